/// What making and changing accounts takes besides the store.
struct AdminAccounts: Sendable {
  var passwords: PasswordHasher
  /// What a server remembers of tokens; nil where no server runs.
  var webAuthTokens: WebAuthTokens?
}
