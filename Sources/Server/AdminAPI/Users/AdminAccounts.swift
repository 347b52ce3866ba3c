import DatabaseAPI

/// What making and changing accounts takes besides the store.
package struct AdminAccounts: Sendable {
  var passwords: PasswordHasher
  /// What a server remembers of tokens; nil where no server runs.
  var webAuthTokens: WebAuthTokens?

  package init(passwords: PasswordHasher, webAuthTokens: WebAuthTokens?) {
    self.passwords = passwords
    self.webAuthTokens = webAuthTokens
  }
}
