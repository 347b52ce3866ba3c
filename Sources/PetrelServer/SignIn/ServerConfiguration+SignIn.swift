import Foundation
import HTTPService

extension ServerConfiguration {
  /// How users sign in at the server's own page.
  public struct SignIn: Sendable, Hashable {
    /// Whether local accounts sign in with their passwords.
    public var acceptsPasswords = true
    /// The header in which the proxy before the server says where a request comes from, such as
    /// `X-Forwarded-For`; the last address in it counts. Without one it is the peer's.
    ///
    /// Wrong passwords are counted by address: behind a proxy that is not named here everybody has
    /// the same.
    public var addressHeader: String?

    public init() {}

    func clientAddress(of request: HTTPRequest) -> String {
      guard let addressHeader,
        let last = request.headers.last(where: {
          $0.name.lowercased() == addressHeader.lowercased()
        })?.value.split(separator: ",").last
      else { return request.remoteAddress }
      return last.trimmingCharacters(in: .whitespaces)
    }
  }
}
