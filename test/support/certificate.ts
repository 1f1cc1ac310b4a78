import { generateKeyPairSync } from "node:crypto";
import forge from "node-forge";

/** A certificate and its key, both in PEM. */
export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
}

/** A new certificate of `localhost` and this machine's loopback address, signed by itself. */
export function makeCertificate(commonName: string): TestCertificate {
  const key = generateKeyPairSync("rsa", {
    modulusLength: 2_048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
  });
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(key.publicKey);
  certificate.serialNumber = "01";
  certificate.validity.notBefore = new Date(Date.now() - 60_000);
  certificate.validity.notAfter = new Date(Date.now() + 86_400_000);
  const name = [{ name: "commonName", value: commonName }];
  certificate.setSubject(name);
  certificate.setIssuer(name);
  certificate.setExtensions([
    { name: "basicConstraints", cA: true },
    {
      name: "subjectAltName",
      altNames: [
        { type: 2, value: "localhost" },
        { type: 7, ip: "127.0.0.1" },
      ],
    },
  ]);
  certificate.sign(forge.pki.privateKeyFromPem(key.privateKey), forge.md.sha256.create());
  return { cert: forge.pki.certificateToPem(certificate), key: key.privateKey };
}
