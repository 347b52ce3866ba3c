import DatabaseAPI

/// The parts besides the store that endpoints need to create and change accounts.
package struct AdminAccounts: Sendable {
  /// The hasher of passwords. It limits how many passwords are hashed at once.
  var passwords: PasswordHasher
  /// The server's cache of web auth tokens. It must forget a user whose tokens end. Nil in a
  /// process that runs no server.
  var webAuthTokens: WebAuthTokens?

  /// Combines the parts.
  package init(passwords: PasswordHasher, webAuthTokens: WebAuthTokens?) {
    self.passwords = passwords
    self.webAuthTokens = webAuthTokens
  }
}
