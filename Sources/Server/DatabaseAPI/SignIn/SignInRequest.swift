import CloudKitModel
import Foundation
import JSONCoding
import StoreModel

/// What an app asked for when it was told to have its user sign in. It travels, sealed, in the URL
/// of the sign-in page.
struct SignInRequest: Sendable, Hashable {
  /// How a web auth token gets to the app.
  enum Callback: Sendable, Hashable {
    /// By a message to the window that opened the page, if it shows a page of one of these origins;
    /// of any where there is none.
    case message(origins: [String])
    /// By a redirect to this URL.
    case redirect(url: String)

    /// The way that an API token says; to the page that sent the request, where the browser tells
    /// which that is and the token allows it.
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
        // No message can be sent to pages from files.
        self = .message(origins: allowed.filter { $0 != "null" }.sorted())
      }
    }
  }

  var container: String
  var environment: ContainerEnvironment
  var callback: Callback

  init(container: String, environment: ContainerEnvironment, callback: Callback) {
    self.container = container
    self.environment = environment
    self.callback = callback
  }

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
    }
    return members
  }

  /// The URL with the token in its query, where the callback is a redirect.
  static func callbackURL(_ url: String, token: String) -> String {
    let parts = url.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let base = String(parts[0])
    let separator = base.hasSuffix("?") || base.hasSuffix("&") ? "" : base.contains("?") ? "&" : "?"
    let escaped = token.addingPercentEncoding(withAllowedCharacters: .unreserved) ?? ""
    let fragment = parts.count > 1 ? "#" + parts[1] : ""
    return "\(base)\(separator)ckWebAuthToken=\(escaped)\(fragment)"
  }

  /// The origin of a URL (RFC 6454), such as `https://app.example.com`; only the scheme where it
  /// has no host, as with an app's own scheme. Nil for what is no absolute URL, or has a host whose
  /// name is none.
  static func origin(of url: String) -> String? {
    guard let components = URLComponents(string: url), let scheme = components.scheme else {
      return nil
    }
    guard let host = components.encodedHost, !host.isEmpty,
      ["http", "https"].contains(scheme.lowercased())
    else { return scheme.lowercased() + ":" }
    // It comes into a list of sources (CSP Level 3, section 2.3.1), which other characters would end.
    guard host.wholeMatch(of: /[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]/) != nil else { return nil }
    let usual = ["http": 80, "https": 443][scheme.lowercased()]
    let port = components.port.flatMap { $0 == usual ? nil : ":\($0)" } ?? ""
    return "\(scheme.lowercased())://\(host.lowercased())\(port)"
  }
}

extension CharacterSet {
  /// What needs no escape anywhere in a URL (RFC 3986, section 2.3).
  static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}
