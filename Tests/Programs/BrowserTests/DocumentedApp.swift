import Foundation
import HTTPService
import RepositoryFiles
import Synchronization

/// The app of docs/guide/web-app.md: its page and its service worker as they stand there, with names and
/// tokens put in, and the reader of strings that the page names.
final class DocumentedApp: Sendable {
  private struct File: Sendable {
    var type: String
    var text: String
  }

  private final class Files: Sendable {
    let all = Mutex<[String: File]>([:])
  }

  private let server: HTTPServer
  private let files = Files()

  init() throws {
    let text = try Self.text(ofFile: "docs/guide/web-app.md")
    let reader = File(
      type: "text/javascript", text: try Self.text(ofFile: "Examples/WebPush/strings.js"))
    files.all.withLock { $0["/strings.js"] = reader }
    for (language, path, type) in [
      ("html", "/", "text/html"), ("js", "/worker.js", "text/javascript"),
    ] {
      guard let begin = text.range(of: "```\(language)\n"),
        let end = text.range(of: "\n```", range: begin.upperBound..<text.endIndex)
      else { throw WebDriver.Failure(description: "docs/guide/web-app.md has no \(language)") }
      let file = File(type: type, text: String(text[begin.upperBound..<end.lowerBound]))
      files.all.withLock { $0[path] = file }
    }
    server = HTTPServer(configuration: .init()) { [files] request in
      guard let file = files.all.withLock({ $0[request.path] }) else {
        return HTTPResponse(status: 404)
      }
      return HTTPResponse(
        headers: [("Content-Type", file.type + "; charset=utf-8")],
        body: .data(Data(file.text.utf8)))
    }
    try server.start()
  }

  /// Service workers are for secure origins, of which this is one.
  var origin: String { "http://localhost:\(server.port)" }

  private static func text(ofFile path: String) throws -> String {
    try RepositoryFile.text(path)
  }

  /// Serves another file.
  func add(_ text: String, at path: String) {
    files.all.withLock { $0[path] = File(type: "text/plain", text: text) }
  }

  /// Puts in what a reader of the page would.
  func put(_ value: String, insteadOf placeholder: String) throws {
    try files.all.withLock { files in
      guard files["/"]?.text.contains(placeholder) == true else {
        throw WebDriver.Failure(description: "docs/guide/web-app.md has no \(placeholder)")
      }
      files["/"]?.text.replace(placeholder, with: value)
    }
  }

  func stop() async { await server.stop(within: .seconds(5)) }
}
