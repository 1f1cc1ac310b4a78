/** The path of the script, as `with { type: "file" }` gives it. */
declare const path: string;
export default path;
