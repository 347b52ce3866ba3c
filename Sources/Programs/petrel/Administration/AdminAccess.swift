import Foundation
import JSONCoding

/// A way to the admin API (docs/admin.md): over HTTP to a server, or in this process to a store.
protocol AdminAccess: Sendable {
  /// - Throws: ``AdminFailure`` where no answer comes.
  func answer(to call: AdminCall) async throws -> (status: Int, body: Data)

  /// Sends a file to the URL that `assets/upload` told, or fetches one from a `downloadURL`.
  func transfer(_ file: AssetTransfer) async throws -> (status: Int, body: Data)

  /// What is told of a call that was refused, beside what the answer says.
  func remark(on failure: AdminFailure) -> String?
}

/// A call of the admin API.
struct AdminCall: Sendable {
  enum Method: String, Sendable {
    case get = "GET"
    case post = "POST"
  }

  var method: Method
  /// What stands behind `/admin/v1/`.
  var path: String
  var query: [(name: String, value: String)] = []
  var body = Data()

  /// The path with the query, percent-encoded.
  var target: String {
    guard !query.isEmpty else { return path }
    let items = query.map { Self.encoded($0.name) + "=" + Self.encoded($0.value) }
    return path + "?" + items.joined(separator: "&")
  }

  private static func encoded(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }

  /// RFC 3986, section 2.3.
  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

/// A file on its way to a server, or from it.
enum AssetTransfer: Sendable {
  case upload(Data, url: String)
  case download(url: String)

  /// The URL without the server's own: that is the one that the command names, whatever the server
  /// takes for its name.
  var path: String {
    let url =
      switch self {
      case .upload(_, let url), .download(let url): url
      }
    return url.range(of: "/assets/", options: .backwards).map { String(url[$0.lowerBound...]) }
      ?? url
  }
}

/// Why a call of the admin API came to nothing.
struct AdminFailure: Error, Sendable, CustomStringConvertible {
  /// The code of CloudKit Web Services, such as `NOT_FOUND`; nil where no answer came.
  var code: String?
  var reason: String
  /// Names the failure in the server's log.
  var uuid: String?
  /// The limit that was passed.
  var limit: Int?
  /// What the one who asked can do about it.
  var remark: String?

  init(_ reason: String) { self.reason = reason }

  /// Reads an error object, of an answer or of one item in it; nil where it is none.
  init?(_ json: JSONValue) {
    guard let code = json["serverErrorCode"]?.string else { return nil }
    self.code = json["reasonCode"]?.string ?? code
    reason = json["reason"]?.string ?? "no reason is given"
    uuid = json["uuid"]?.string
    limit = json["limit"]?.int.map { Int($0) }
  }

  var description: String {
    var text = reason
    if let code { text += " (\(code))" }
    if let remark { text += "; \(remark)" }
    return text
  }
}

extension AdminAccess {
  /// Reads; arguments without a value are left out.
  func get(_ path: String, _ arguments: [String: String?] = [:]) async throws -> JSONValue {
    let query = arguments.compactMap { name, value in value.map { (name: name, value: $0) } }
    return try await json(
      AdminCall(method: .get, path: path, query: query.sorted { $0.name < $1.name }))
  }

  func post(_ path: String, _ body: [String: JSONValue]) async throws -> JSONValue {
    var writer = JSONWriter()
    writer.value(.object(body))
    return try await post(path, body: writer.data)
  }

  func post(_ path: String, body: Data) async throws -> JSONValue {
    try await json(AdminCall(method: .post, path: path, body: body))
  }

  private func json(_ call: AdminCall) async throws -> JSONValue {
    let (status, body) = try await answer(to: call)
    // The caller gets an error that says what came instead.
    guard let json = try? JSONValue(parsing: body) else {
      throw AdminFailure("what answers \(call.path) with status \(status) is no Petrel server")
    }
    guard (200..<300).contains(status) else {
      var failure =
        AdminFailure(json) ?? AdminFailure("\(call.path) was answered with status \(status)")
      failure.remark = remark(on: failure)
      throw failure
    }
    return json
  }
}
