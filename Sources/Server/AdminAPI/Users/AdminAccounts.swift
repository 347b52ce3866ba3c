import DatabaseAPI

/// The parts besides the store that endpoints need to create and change accounts.
package struct AdminAccounts: Sendable {
  /// The hasher of passwords. It limits how many passwords it hashes at the same time.
  var passwords: PasswordHasher
  /// The server's cache of web auth tokens. An endpoint that makes tokens of a user invalid must
  /// also remove the user from this cache. Nil in a process that runs no server.
  var webAuthTokens: WebAuthTokens?

  package init(passwords: PasswordHasher, webAuthTokens: WebAuthTokens?) {
    self.passwords = passwords
    self.webAuthTokens = webAuthTokens
  }
}
