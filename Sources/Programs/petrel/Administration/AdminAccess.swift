import AdminAPI
import Foundation
import JSONCoding

/// A way to call the admin API (`docs/reference/admin-api.md`): over HTTP to a server, or in this
/// process on a store.
///
/// Most commands use only this protocol, so they work in the same way with and without a running
/// server.
protocol AdminAccess: Sendable {
  /// Calls the admin API and returns the answer, also if its HTTP status reports an error.
  ///
  /// - Throws: ``AdminFailure`` if there is no answer.
  func answer(to call: AdminCall) async throws -> (status: Int, body: Data)

  /// Uploads a file to a URL that `assets/upload` returned, or downloads a file from the
  /// `downloadURL` of a record's field.
  ///
  /// - Throws: ``AdminFailure`` if there is no answer.
  func transfer(_ file: AssetTransfer) async throws -> (status: Int, body: Data)

  /// Returns advice about a refused call, for the user; `nil` if there is none.
  func remark(on failure: AdminFailure) -> String?
}

/// A call of the admin API.
struct AdminCall: Sendable {
  var method: AdminEndpoint.Method
  /// The path after `/admin/v1/`, without the query.
  var path: String
  /// The arguments of the query, without percent-encoding.
  var query: [(name: String, value: String)] = []
  var body = Data()

  var target: String {
    guard !query.isEmpty else { return path }
    let items = query.map { Self.encoded($0.name) + "=" + Self.encoded($0.value) }
    return path + "?" + items.joined(separator: "&")
  }

  /// Returns the text with all but unreserved characters percent-encoded.
  private static func encoded(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }

  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

/// A transfer of an asset's file to or from a server.
enum AssetTransfer: Sendable {
  /// Sends the bytes to a URL that `assets/upload` returned.
  case upload(Data, url: String)
  /// Fetches the bytes of a `downloadURL`.
  case download(url: String)

  /// The part of the URL from `/assets/` on. The host of the URL is ignored, because it may differ
  /// from the address that the user named. The client uses that address.
  var path: String {
    let url =
      switch self {
      case .upload(_, let url), .download(let url): url
      }
    return url.range(of: "/assets/", options: .backwards).map { String(url[$0.lowerBound...]) }
      ?? url
  }
}

/// The failure of a call of the admin API, or of one item in an answer.
struct AdminFailure: Error, Sendable, CustomStringConvertible {
  /// The code of the answer's error object, such as `NOT_FOUND`: its `reasonCode` if there is one,
  /// otherwise its `serverErrorCode`. The code is `nil` if the failure does not come from an error
  /// object.
  var code: String?
  var reason: String
  var uuid: String?
  /// The limit that the call exceeded, as a number; `nil` for other failures.
  var limit: Int?
  /// Advice for the user, printed after the reason; `nil` if there is none.
  var remark: String?

  /// Creates a failure without a code, for example after a broken connection.
  init(_ reason: String) { self.reason = reason }

  /// Creates a failure from the error object of an answer or of one item; returns `nil` if the JSON
  /// has no `serverErrorCode`.
  init?(_ json: JSONValue) {
    guard let code = json["serverErrorCode"]?.string else { return nil }
    self.code = json["reasonCode"]?.string ?? code
    reason = json["reason"]?.string ?? "the server gave no reason"
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
  /// Throws an ``AdminFailure`` if the call fails.
  func answer(
    _ endpoint: AdminEndpoint, _ members: [String: JSONValue]
  ) async throws -> JSONValue {
    switch endpoint.method {
    case .get: try await get(endpoint.path, members)
    case .post: try await post(endpoint.path, members)
    }
  }

  /// Throws an ``AdminFailure`` if the call fails.
  func get(_ path: String, _ arguments: [String: JSONValue] = [:]) async throws -> JSONValue {
    let query = arguments.map { (name: $0.key, value: $0.value.string ?? $0.value.text) }
    return try await json(
      AdminCall(method: .get, path: path, query: query.sorted { $0.name < $1.name }))
  }

  /// Throws an ``AdminFailure`` if the call fails.
  func post(_ path: String, _ body: [String: JSONValue]) async throws -> JSONValue {
    var writer = JSONWriter()
    writer.value(.object(body))
    return try await post(path, body: writer.data)
  }

  /// Throws an ``AdminFailure`` if the call fails.
  func post(_ path: String, body: Data) async throws -> JSONValue {
    try await json(AdminCall(method: .post, path: path, body: body))
  }

  /// Makes a call and returns its JSON.
  ///
  /// - Throws: ``AdminFailure`` if there is no answer, the answer is no JSON, or the status is not
  ///   from 200 to 299.
  private func json(_ call: AdminCall) async throws -> JSONValue {
    let (status, body) = try await answer(to: call)
    // An answer that is no JSON does not come from Petrel. The error below says so.
    guard let json = try? JSONValue(parsing: body) else {
      throw AdminFailure(
        "the server that answered \(call.path) with status \(status) is not a Petrel server")
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
