import Foundation
import JSONCoding
import PythonPrograms
import Testing

/// A receiver of webhooks in Python, which checks signatures with the Standard Webhooks library.
final class WebhookReceiver: Sendable {
  private let python: Python
  let url: String

  /// - Parameters:
  ///   - secret: as the server showed it.
  ///   - statuses: what the first requests are answered with; 204 afterwards.
  init(secret: String, statuses: [Int] = []) async throws {
    python = try Python(
      """
      import sys, json
      from http.server import BaseHTTPRequestHandler, HTTPServer
      from standardwebhooks.webhooks import Webhook
      secret, statuses = sys.argv[1], json.loads(sys.argv[2])
      class Receiver(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def do_POST(self):
          body = self.rfile.read(int(self.headers["content-length"]))
          try:
            value, verified = Webhook(secret).verify(body, dict(self.headers)), True
          except Exception as error:
            value, verified = repr(error), False
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
      server = HTTPServer(("127.0.0.1", 0), Receiver)
      print("port", server.server_port, flush=True)
      server.serve_forever()
      """, [secret, "\(statuses)"])
    do {
      url = "http://127.0.0.1:\(try await python.line(beginningWith: "port "))/hook"
    } catch {
      python.kill()
      throw error
    }
  }

  func stop() { python.kill() }

  /// What has come.
  var messages: [JSONValue] {
    python.output.split(separator: "\n").filter { $0.hasPrefix("got ") }.compactMap {
      try? JSONValue(parsing: Data($0.dropFirst(4).utf8))
    }
  }
}
