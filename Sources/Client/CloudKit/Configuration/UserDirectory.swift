/// The folders in which the client stores files for the program's user (XDG Base Directory Specification).
enum UserDirectory {
  /// The folder of the user's settings: `petrel` in `$XDG_CONFIG_HOME`, by default in `~/.config`.
  case configuration
  /// The folder of data that outlives a launch: `petrel` in `$XDG_STATE_HOME`, by default in `~/.local/state`.
  case state

  /// Returns the absolute path of the folder. The method does not create the folder.
  func path(variables: [String: String]) -> String {
    switch self {
    case .configuration: Self.path(variables, "XDG_CONFIG_HOME", ".config")
    case .state: Self.path(variables, "XDG_STATE_HOME", ".local/state")
    }
  }

  /// Returns the folder `petrel` in the base directory that an environment variable names. A path that is not absolute
  /// counts as unset, as the specification requires.
  ///
  /// - Parameter fallback: the base directory if the variable is unset, relative to the home
  ///   directory.
  private static func path(
    _ variables: [String: String], _ variable: String, _ fallback: String
  ) -> String {
    if let base = variables[variable], base.hasPrefix("/") { return base + "/petrel" }
    // This method reads `HOME` itself, because Foundation on Linux prefers the user database to `HOME`.
    let home =
      variables["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
      ?? FileManager.default.homeDirectoryForCurrentUser.path
    return "\(home)/\(fallback)/petrel"
  }
}
