import { generateKeyPairSync } from "node:crypto";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import forge from "node-forge";

const { asn1, md, pem, pki, random, util } = forge;

/** A certificate and its private key, both PEM. */
export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
}

/** A private certificate authority. */
export interface Authority {
  /** Its own certificate, PEM. */
  readonly certificate: string;
  /** Issues a certificate for a server host name or a client name. */
  issue(name: string): TestCertificate;
}

const DAY_MS = 86_400_000;

interface Names {
  readonly subject: string;
  readonly issuer: string;
}

/** Signs a certificate with these extensions and returns it as PEM. */
function sign({ subject, issuer }: Names, publicKey: string, signingKey: string, extensions: object[]): string {
  const certificate = pki.createCertificate();
  certificate.publicKey = pki.publicKeyFromPem(publicKey);
  certificate.serialNumber = `01${util.bytesToHex(random.getBytesSync(15))}`;
  certificate.validity.notBefore = new Date(Date.now() - DAY_MS);
  certificate.validity.notAfter = new Date(Date.now() + DAY_MS);
  certificate.setSubject([{ name: "commonName", value: subject }]);
  certificate.setIssuer([{ name: "commonName", value: issuer }]);
  certificate.setExtensions(extensions);
  certificate.sign(pki.privateKeyFromPem(signingKey), md.sha256.create());
  return pki.certificateToPem(certificate);
}

const newKeys = () =>
  generateKeyPairSync("rsa", {
    modulusLength: 2_048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
  });

const CA_CONSTRAINT = { name: "basicConstraints", cA: true, critical: true };
const subjectAltName = (...altNames: object[]) => ({ name: "subjectAltName", altNames });

/** Creates a certificate authority. */
export function newAuthority(): Authority {
  const caKeys = newKeys();
  const issuer = "Test authority";
  return {
    certificate: sign({ subject: issuer, issuer }, caKeys.publicKey, caKeys.privateKey, [CA_CONSTRAINT]),
    issue(subject) {
      const { publicKey, privateKey: key } = newKeys();
      return {
        cert: sign({ subject, issuer }, publicKey, caKeys.privateKey, [subjectAltName({ type: 2, value: subject })]),
        key,
      };
    },
  };
}

/** Creates a self-signed certificate for `localhost` and 127.0.0.1. */
export function makeCertificate(subject: string): TestCertificate {
  const { publicKey, privateKey: key } = newKeys();
  const names = subjectAltName({ type: 2, value: "localhost" }, { type: 7, ip: "127.0.0.1" });
  return { cert: sign({ subject, issuer: subject }, publicKey, key, [CA_CONSTRAINT, names]), key };
}

/** Returns the certificate with a new P-256 key. Its signature is invalid, but neither side verifies it. */
export function withEcKey({ cert }: TestCertificate): TestCertificate {
  const { publicKey, privateKey: key } = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    publicKeyEncoding: { type: "spki", format: "der" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const [message] = pem.decode(cert);
  const parsed = asn1.fromDer(message?.body as string);
  const [tbsCertificate] = parsed.value as forge.asn1.Asn1[];
  // RFC 5280, section 4.1: subjectPublicKeyInfo is the seventh field.
  (tbsCertificate?.value as forge.asn1.Asn1[])[6] = asn1.fromDer(publicKey.toString("latin1"));
  return { cert: pem.encode({ type: "CERTIFICATE", body: asn1.toDer(parsed).getBytes() }), key };
}

/** Opens a TLS connection and returns it with the common name of the server's certificate. */
export function openTls(
  { url }: { readonly url: string },
  options: ConnectionOptions = {},
): Promise<{ socket: TLSSocket; name: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ socket: TLSSocket; name: string }>();
  const port = Number(new URL(url).port);
  const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false, ...options }, () =>
    resolve({ socket, name: String(socket.getPeerCertificate().subject.CN) }),
  );
  socket.on("error", reject);
  return promise;
}

/** Returns the common name of the certificate that a new connection receives. */
export async function certificateNameOf(server: { readonly url: string }): Promise<string> {
  const { socket, name } = await openTls(server);
  socket.destroy();
  return name;
}
