/** A setting. `parse` returns its value, or `undefined` if the text is invalid; `rule` completes "--flag ..." in the error message. */
export interface Setting<Value> {
  readonly flag: `--${string}`;
  /** Environment variable. OpenTelemetry's standard name is used where there is one. */
  readonly variable: `PLANTSTORE_${string}` | "OTEL_EXPORTER_OTLP_ENDPOINT";
  /** Placeholder for the value in the help text. */
  readonly unit: string;
  readonly default?: string;
  readonly help: string;
  readonly rule: string;
  parse(text: string): Value | undefined;
}
