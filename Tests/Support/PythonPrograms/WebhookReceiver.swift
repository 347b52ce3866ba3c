import Foundation
import JSONCoding

/// A receiver of webhooks in Python, which checks signatures with the Standard Webhooks library.
public final class WebhookReceiver: Sendable {
  private let python: Python
  private let secretFile: URL
  /// The lines about requests. Each is written before its request is answered, so that whoever has the answer finds
  /// it there.
  private let messageFile: URL
  public let url: String

  /// - Parameters:
  ///   - secret: as the server showed it; ``expect(secret:)`` can set it later.
  ///   - statuses: the status codes of the first answers; 204 afterwards.
  public init(secret: String = "", statuses: [Int] = []) async throws {
    secretFile = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try Data(secret.utf8).write(to: secretFile)
    messageFile = secretFile.appendingPathExtension("messages")
    try Data().write(to: messageFile)
    python = try Python(
      """
      import sys, json, threading
      from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
      from standardwebhooks.webhooks import Webhook
      secret_file, statuses = sys.argv[1], json.loads(sys.argv[2])
      messages, writing = open(sys.argv[3], "a"), threading.Lock()
      class Receiver(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def do_POST(self):
          body = self.rfile.read(int(self.headers["content-length"]))
          try:
            value, verified = Webhook(open(secret_file).read()).verify(body, dict(self.headers)), True
          except Exception as error:
            value, verified = repr(error), False
          with writing:
            status = statuses.pop(0) if statuses else 204
            print(json.dumps({"verified": verified, "value": value, "status": status,
              "path": self.path, "id": self.headers["webhook-id"],
              "type": self.headers["content-type"], "signature": self.headers["webhook-signature"],
              "timestamp": self.headers["webhook-timestamp"]}), file=messages, flush=True)
          self.send_response(status)
          if status in (301, 302, 307): self.send_header("Location", "/elsewhere")
          self.send_header("Content-Length", "0")
          self.end_headers()
        def log_message(self, *arguments): pass
      # A connection that is kept holds up none of the others.
      server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
      print("port", server.server_port, flush=True)
      server.serve_forever()
      """, [secretFile.path, "\(statuses)", messageFile.path])
    do {
      url = "http://127.0.0.1:\(try await python.line(beginningWith: "port "))/hook"
    } catch {
      python.kill()
      throw error
    }
  }

  public func stop() {
    python.kill()
    for file in [secretFile, messageFile] { try? FileManager.default.removeItem(at: file) }
  }

  /// Sets the secret with which signatures are checked from now on.
  public func expect(secret: String) throws {
    try Data(secret.utf8).write(to: secretFile)
  }

  /// The received messages.
  public var messages: [JSONValue] {
    let lines = (try? Data(contentsOf: messageFile)) ?? Data()
    return lines.split(separator: UInt8(ascii: "\n")).compactMap {
      try? JSONValue(parsing: Data($0))
    }
  }
}
