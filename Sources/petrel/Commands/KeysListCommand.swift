import CloudKitModel
import Storage

/// `petrel keys list`
enum KeysListCommand: Command {
  static let name = "keys list"
  static let summary = "Lists API tokens, server-to-server keys and admin keys."
  static let options: [Arguments.Option] = [
    .init("container", "IDENTIFIER", "only those of this container"), ServeCommand.dataOption,
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else { throw UsageError("takes no words") }
    var (credentials, adminKeys) = try await ServeCommand.withStore(arguments) {
      (try await $0.programCredentials(), try await $0.administration.adminKeys())
    }
    if arguments.string("container") != nil {
      let container = try ContainerOptions.container(arguments)
      credentials.apiTokens.removeAll { $0.container != container }
      credentials.serverKeys.removeAll { $0.container != container }
      adminKeys = []
    }
    for token in credentials.apiTokens {
      print(
        "API token", token.identifier, token.name, token.container, token.environment,
        since: token.created, until: token.revoked, details(of: token))
    }
    for key in credentials.serverKeys {
      print(
        "server key", key.keyID, key.name, key.container, key.environment, since: key.created,
        until: key.revoked, ["user record \(key.userRecordName)"])
    }
    for key in adminKeys {
      Output.line("admin key \(key.identifier)  \(key.label)")
      Output.line("  the console and the admin API, made \(day(key.created))")
      if let revoked = key.revoked { Output.line("  REVOKED \(day(revoked))") }
    }
    return 0
  }

  private static func details(of token: APIToken) -> [String] {
    let origins =
      token.allowedOrigins.isEmpty
      ? "pages from anywhere"
      : "pages from " + token.allowedOrigins.sorted().joined(separator: ", ")
    switch token.signInCallback {
    case .postMessage: return [origins, "sign-in posts a message"]
    case .redirect(let url): return [origins, "sign-in leads to \(url)"]
    }
  }

  private static func print(
    _ kind: String, _ identifier: String, _ name: String, _ container: String,
    _ environment: ContainerEnvironment, since created: Timestamp, until revoked: Timestamp?,
    _ details: [String]
  ) {
    Output.line("\(kind) \(identifier)  \(name)")
    Output.line("  \(container) (\(environment.rawValue)), made \(day(created))")
    for detail in details { Output.line("  \(detail)") }
    if let revoked { Output.line("  REVOKED \(day(revoked))") }
  }

  private static func day(_ timestamp: Timestamp) -> Substring { timestamp.iso8601.prefix(10) }
}
