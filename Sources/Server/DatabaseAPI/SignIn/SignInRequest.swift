import CloudKitModel
import Foundation
import JSONCoding
import StoreModel

/// The request of an app, or of the page of a share, for a web auth token. The URL of the sign-in page contains it, sealed by a
/// ``TextSeal``.
struct SignInRequest: Sendable, Hashable {
  /// The way in which a web auth token gets to the one who needs it.
  enum Callback: Sendable, Hashable {
    /// A message to the window that opened the sign-in page, if that window shows a page of one of
    /// these origins. An empty list permits every origin.
    case message(origins: [String])
    case redirect(url: String)
    /// No app gets the token: it goes into the cookie of the page of the share with this short GUID,
    /// to which the browser is redirected.
    case sharePage(shortGUID: String)

    /// Chooses the way that an API token names; a message if there is no token.
    ///
    /// The message goes to the origin of the page that sent the request, if the browser names the
    /// origin and the token permits it. Otherwise the message may go to all origins of the token.
    init(_ apiToken: APIToken?, origin: String?) {
      if case .redirect(let url) = apiToken?.signInCallback {
        self = .redirect(url: url)
        return
      }
      let allowed = apiToken?.allowedOrigins ?? []
      let isOrigin = origin.map { SignInRequest.origin(of: $0) == $0 } ?? false
      if let origin, isOrigin, allowed.isEmpty || allowed.contains(origin) {
        self = .message(origins: [origin])
      } else {
        // No message can be sent to a page from a file.
        self = .message(origins: allowed.filter { $0 != "null" }.sorted())
      }
    }
  }

  var container: String
  var environment: ContainerEnvironment
  /// The way in which the token gets to the one who needs it.
  var callback: Callback

  init(container: String, environment: ContainerEnvironment, callback: Callback) {
    self.container = container
    self.environment = environment
    self.callback = callback
  }

  /// Creates the request of the page of a share.
  init(sharePage shortGUID: String) {
    self.init(
      container: ShareSession.container, environment: ShareSession.environment,
      callback: .sharePage(shortGUID: shortGUID))
  }

  /// Reads the members of a sealed text; nil if a member is missing or malformed.
  init?(_ members: [String: JSONValue]) {
    guard let container = members["container"]?.string,
      let environment = members["environment"]?.string.flatMap(ContainerEnvironment.init)
    else { return nil }
    self.container = container
    self.environment = environment
    if let url = members["redirect"]?.string {
      callback = .redirect(url: url)
    } else if let origins = members["origins"]?.array {
      callback = .message(origins: origins.compactMap(\.string))
    } else if let shortGUID = members["share"]?.string {
      callback = .sharePage(shortGUID: shortGUID)
    } else {
      return nil
    }
  }

  var members: [String: JSONValue] {
    var members: [String: JSONValue] = [
      "container": .string(container), "environment": .string(environment.rawValue),
    ]
    switch callback {
    case .message(let origins): members["origins"] = .array(origins.map(JSONValue.string))
    case .redirect(let url): members["redirect"] = .string(url)
    case .sharePage(let shortGUID): members["share"] = .string(shortGUID)
    }
    return members
  }

  /// Returns the URL of a redirect, with the token as the parameter `ckWebAuthToken` of its query.
  static func callbackURL(_ url: String, token: String) -> String {
    let parts = url.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let base = String(parts[0])
    let separator = base.hasSuffix("?") || base.hasSuffix("&") ? "" : base.contains("?") ? "&" : "?"
    let escaped = token.addingPercentEncoding(withAllowedCharacters: .unreserved) ?? ""
    let fragment = parts.count > 1 ? "#" + parts[1] : ""
    return "\(base)\(separator)ckWebAuthToken=\(escaped)\(fragment)"
  }

  /// Returns the origin of a URL (RFC 6454), such as `https://app.example.com`.
  ///
  /// For a URL without a host, or with another scheme than `http` and `https` (such as an app's own
  /// scheme), the result is the scheme with a colon. The result is nil for a text that is no
  /// absolute URL, and for an invalid host name.
  static func origin(of url: String) -> String? {
    guard let components = URLComponents(string: url), let scheme = components.scheme else {
      return nil
    }
    guard let host = components.encodedHost, !host.isEmpty,
      ["http", "https"].contains(scheme.lowercased())
    else { return scheme.lowercased() + ":" }
    // The origin becomes part of a source list of a content security policy (CSP Level 3, section
    // 2.3.1). Other characters could end the list.
    guard host.wholeMatch(of: /[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]/) != nil else { return nil }
    let usual = ["http": 80, "https": 443][scheme.lowercased()]
    let port = components.port.flatMap { $0 == usual ? nil : ":\($0)" } ?? ""
    return "\(scheme.lowercased())://\(host.lowercased())\(port)"
  }
}

extension CharacterSet {
  /// The characters that need no escape anywhere in a URL (RFC 3986, section 2.3).
  static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}
