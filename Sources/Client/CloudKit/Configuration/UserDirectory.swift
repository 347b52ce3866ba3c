/// Petrel's folders in the home directory of the program's user (XDG Base Directory Specification).
enum UserDirectory {
  /// What the user has set: `petrel` in `$XDG_CONFIG_HOME`, by default `~/.config`.
  case configuration
  /// What is kept from launch to launch: `petrel` in `$XDG_STATE_HOME`, by default `~/.local/state`.
  case state

  func path(variables: [String: String]) -> String {
    switch self {
    case .configuration: Self.path(variables, "XDG_CONFIG_HOME", ".config")
    case .state: Self.path(variables, "XDG_STATE_HOME", ".local/state")
    }
  }

  /// A base directory that is not absolute counts as not set, as the specification has it.
  private static func path(
    _ variables: [String: String], _ variable: String, _ fallback: String
  ) -> String {
    if let base = variables[variable], base.hasPrefix("/") { return base + "/petrel" }
    // Foundation on Linux looks into the user database first.
    let home =
      variables["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
      ?? FileManager.default.homeDirectoryForCurrentUser.path
    return "\(home)/\(fallback)/petrel"
  }
}
