/// What commands are about, in the order of the overview.
enum CommandMatter: String, CaseIterable {
  case running = "Run a server"
  case data = "Look at its data and change it"
  case access = "Say who may use it"
  case reasons = "See why a push came or did not"
  case development = "Try, develop and measure"

  /// The matter of the commands with this first word.
  init(ofCommandsBeginning word: some StringProtocol) {
    switch word {
    case "serve", "config", "limits", "doctor", "backup", "restore", "store", "servers", "version":
      self = .running
    case "records", "zones", "schema", "subscriptions": self = .data
    case "users", "keys", "roles", "devices": self = .access
    case "explain", "notifications": self = .reasons
    default: self = .development
    }
  }
}
