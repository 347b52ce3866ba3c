import Cryptography
import Foundation
import JSONCoding
import PythonPrograms
import Testing

/// Issuers have certificates of the system's authorities, so their TLS is asked from outside, in a process
/// that trusts an authority of the test in place of those.
struct IssuerTLSTests {
  private static let ownMounts = ["/usr/bin/unshare", "--mount"]

  private static let server = """
    import json, ssl, sys, threading
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    def serve(name, folder, certificate, old):
      class Issuer(BaseHTTPRequestHandler):
        def do_GET(self):
          here = f"https://127.0.0.1:{server.server_port}"
          body = {"keys": []} if self.path == "/keys" else {"issuer": here,
            "authorization_endpoint": here + "/a", "token_endpoint": here + "/t",
            "jwks_uri": here + "/keys"}
          self.send_response(200)
          self.end_headers()
          self.wfile.write(json.dumps(body).encode())
        def log_message(self, *arguments): pass
      class Server(ThreadingHTTPServer):
        def handle_error(self, *arguments): pass
      server = Server(("127.0.0.1", 0), Issuer)
      context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
      if old:
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
      context.load_cert_chain(f"{folder}/{certificate}.pem", f"{folder}/{certificate}.key")
      server.socket = context.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False)
      threading.Thread(target=server.serve_forever).start()
      print(name, server.server_port, flush=True)
    folder = sys.argv[1]
    for name in ["good", "host", "expired", "stranger"]: serve(name, folder, name, False)
    serve("old", folder, "good", True)
    """

  @Test(
    "an issuer is asked only with a certificate that is its own, in time and of a known authority, and TLS 1.2",
    .enabled(if: Python.isInstalled, "no Python"),
    .enabled(
      if: Program.canRun("petrel", through: Self.ownMounts),
      "no mounts of one's own here"))
  func issuers() async throws {
    try await DoctorSetup.run { setup in
      let authority = try CertificateAuthority(commonName: "Trusted")
      let stranger = try CertificateAuthority(commonName: "Stranger")
      let trusted = setup.folder + "/trusted.pem"
      try authority.writeCertificate(toFile: trusted)
      let past = Date(timeIntervalSinceNow: -10 * 86_400)
      for (name, certificate) in [
        ("good", try authority.issueCertificate(forHosts: ["127.0.0.1"])),
        ("host", try authority.issueCertificate(forHosts: ["other.example.com"])),
        ("expired", try authority.issueCertificate(forHosts: ["127.0.0.1"], days: 5, now: past)),
        ("stranger", try stranger.issueCertificate(forHosts: ["127.0.0.1"])),
      ] {
        try certificate.write(
          certificateFile: "\(setup.folder)/\(name).pem",
          privateKeyFile: "\(setup.folder)/\(name).key")
      }
      let server = try Python(Self.server, [setup.folder])
      defer { server.kill() }
      var issuers: [String: JSONValue] = [:]
      for name in ["good", "host", "expired", "stranger", "old"] {
        let port = try await server.line(beginningWith: "\(name) ")
        issuers[name] = [
          "issuer": .string("https://127.0.0.1:\(port)"), "clientID": "c", "label": .string(name),
        ]
      }
      try setup.configure { _, all in all["signIn"] = ["issuers": .object(issuers)] }
      let report = try await setup.report(
        through: Self.ownMounts + [
          "/bin/sh", "-c",
          "mount --bind \(trusted) /etc/ssl/certs/ca-certificates.crt && exec \"$@\"", "sh",
        ])
      let good = report.findings("ok", in: "sign-in")
      #expect(good.count == 1 && good.first?.contains("good") == true, "\(report.text)")
      let bad = report.findings("problem", in: "sign-in")
      let reasons = [
        "host": "no alternative certificate subject name matches", "expired": "expired",
        "stranger": "self-signed certificate", "old": "SSL routines",
      ]
      for name in reasons.keys {
        let finding = bad.first { $0.hasPrefix("\(name):") } ?? ""
        #expect(finding.contains(reasons[name] ?? ""), "\(name): \(report.text)")
      }
    }
  }
}
