import Foundation
import JSONCoding

/// A receiver of webhooks in Python, which checks signatures with the Standard Webhooks library.
public final class WebhookReceiver: Sendable {
  private let python: Python
  private let secretFile: URL
  public let url: String

  /// - Parameters:
  ///   - secret: as the server showed it; may be told later with ``expect(secret:)``.
  ///   - statuses: what the first requests are answered with; 204 afterwards.
  public init(secret: String = "", statuses: [Int] = []) async throws {
    secretFile = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try Data(secret.utf8).write(to: secretFile)
    python = try Python(
      """
      import sys, json, threading
      from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
      from standardwebhooks.webhooks import Webhook
      secret_file, statuses = sys.argv[1], json.loads(sys.argv[2])
      printing = threading.Lock()
      class Receiver(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def do_POST(self):
          body = self.rfile.read(int(self.headers["content-length"]))
          try:
            value, verified = Webhook(open(secret_file).read()).verify(body, dict(self.headers)), True
          except Exception as error:
            value, verified = repr(error), False
          with printing:
            status = statuses.pop(0) if statuses else 204
            print("got " + json.dumps({"verified": verified, "value": value, "status": status,
              "path": self.path, "id": self.headers["webhook-id"],
              "type": self.headers["content-type"], "signature": self.headers["webhook-signature"],
              "timestamp": self.headers["webhook-timestamp"]}), flush=True)
          self.send_response(status)
          if status in (301, 302, 307): self.send_header("Location", "/elsewhere")
          self.send_header("Content-Length", "0")
          self.end_headers()
        def log_message(self, *arguments): pass
      # A connection that is kept holds up none of the others.
      server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
      print("port", server.server_port, flush=True)
      server.serve_forever()
      """, [secretFile.path, "\(statuses)"])
    do {
      url = "http://127.0.0.1:\(try await python.line(beginningWith: "port "))/hook"
    } catch {
      python.kill()
      throw error
    }
  }

  public func stop() {
    python.kill()
    try? FileManager.default.removeItem(at: secretFile)
  }

  /// Tells the secret that signatures are checked with from now on.
  public func expect(secret: String) throws {
    try Data(secret.utf8).write(to: secretFile)
  }

  /// What has come.
  public var messages: [JSONValue] {
    python.output.split(separator: "\n").filter { $0.hasPrefix("got ") }.compactMap {
      try? JSONValue(parsing: Data($0.dropFirst(4).utf8))
    }
  }
}
