import { md, pki, random, util } from "node-forge";

/** A certificate and its private key, both PEM. */
export interface Certificate {
  readonly certificate: string;
  readonly key: string;
}

/** Whoever vouches for certificates; `certificate` is its own, PEM. */
export interface Authority {
  readonly certificate: string;
  /** A certificate for the server with this host name, or for the client with this name. */
  issue(name: string): Certificate;
}

const DAY_MS = 86_400_000;

/** A certificate authority that nobody knows. */
export function newAuthority(): Authority {
  const keys = pki.rsa.generateKeyPair(2048);
  const issuer = "Test authority";
  const sign = (name: string, publicKey: pki.PublicKey, extension: object): string => {
    const certificate = pki.createCertificate();
    certificate.publicKey = publicKey;
    certificate.serialNumber = `00${util.bytesToHex(random.getBytesSync(15))}`;
    certificate.validity.notBefore = new Date(Date.now() - DAY_MS);
    certificate.validity.notAfter = new Date(Date.now() + DAY_MS);
    certificate.setSubject([{ name: "commonName", value: name }]);
    certificate.setIssuer([{ name: "commonName", value: issuer }]);
    certificate.setExtensions([extension]);
    certificate.sign(keys.privateKey, md.sha256.create());
    return pki.certificateToPem(certificate);
  };
  return {
    certificate: sign(issuer, keys.publicKey, { name: "basicConstraints", cA: true, critical: true }),
    issue(name) {
      const { publicKey, privateKey } = pki.rsa.generateKeyPair(2048);
      const certificate = sign(name, publicKey, { name: "subjectAltName", altNames: [{ type: 2, value: name }] });
      return { certificate, key: pki.privateKeyToPem(privateKey) };
    },
  };
}
