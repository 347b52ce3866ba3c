import CloudKitModel
import Settings
import Storage
import StoreModel

extension Registration {
  /// Revokes an API token, a server-to-server key or an admin key. A running server refuses a
  /// revoked token or server-to-server key after ``CredentialDirectory/trust`` seconds at the
  /// latest.
  ///
  /// - Parameter name: the identifier, or at least its first eight digits. For an API token or an
  ///   admin key, the text works too.
  /// - Returns: a sentence that says what was revoked.
  /// - Throws: `ConfigurationError` if the name fits no token or key, or more than one, or one that
  ///   is already revoked.
  public static func revoke(
    _ name: String, of credentials: CredentialService, and adminAccess: AdminAccessService,
    at now: Timestamp
  ) async throws -> String {
    let name = name.lowercased()
    let all = try await credentials.programCredentials()
    let hash = Authenticator.hash(of: name)
    let fits = { (identifier: String) in
      identifier == name || name.count >= 8 && identifier.hasPrefix(name)
    }
    let tokens = all.apiTokens.filter { $0.hash == hash || fits($0.identifier) }
    let keys = all.serverKeys.filter { fits($0.keyID) }
    let adminKeys = try await adminAccess.adminKeys().filter {
      $0.hash == hash || fits($0.identifier)
    }
    guard tokens.count + keys.count + adminKeys.count < 2 else {
      throw ConfigurationError(
        "several identifiers begin with '\(name)'; write the whole one")
    }
    if let token = tokens.first {
      let what = "API token \(token.identifier) '\(token.name)'"
      guard try await credentials.revokeAPIToken(withHash: token.hash, at: now) else {
        throw ConfigurationError("\(what) is revoked already")
      }
      return "revoked \(what) of \(token.container) (\(token.environment.rawValue))"
    }
    if let key = keys.first {
      let what = "server-to-server key \(key.keyID) '\(key.name)'"
      guard try await credentials.revokeServerKey(key.keyID, at: now) else {
        throw ConfigurationError("\(what) is revoked already")
      }
      return "revoked \(what) of \(key.container) (\(key.environment.rawValue))"
    }
    if let key = adminKeys.first {
      let what = "admin key \(key.identifier) '\(key.label)'"
      guard try await adminAccess.revokeAdminKey(withHash: key.hash, at: now) else {
        throw ConfigurationError("\(what) is revoked already")
      }
      return "revoked \(what); console sessions that began with it have ended"
    }
    throw ConfigurationError(
      "there is no API token, server-to-server key or admin key '\(name)'; 'petrel keys list' shows "
        + "them")
  }
}
