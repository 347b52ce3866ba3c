import CommandInterface
import JSONCoding

/// The command `petrel keys list`, which prints the API tokens, server-to-server keys and admin
/// keys.
///
/// It calls `GET keys` of the admin API.
enum KeysListCommand: Command {
  static let name = "keys list"
  static let example = "petrel keys list --container iCloud.com.example.app"
  static let summary = "Lists API tokens, server-to-server keys and admin keys."
  static let options: [Arguments.Option] =
    [.init("container", "IDENTIFIER", "only those of this container"), AdminOptions.json]
    + AdminOptions.all

  static func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else { throw UsageError("takes only options") }
    let container =
      arguments.string("container") == nil ? nil : try ContainerOptions.container(arguments)
    let answer = try await AdminOptions.withAccess(arguments) {
      try await $0.get("keys")
    }
    let keys = (answer["keys"]?.array ?? []).filter { key in
      container == nil || key["container"]?.string == container
    }
    if arguments.flag("json") {
      Output.json(["keys": .array(keys)])
      return 0
    }
    for kind in ["apiToken", "server", "admin"] {
      for key in keys where key["kind"]?.string == kind { print(key, kind: kind) }
    }
    return 0
  }

  /// Prints the answer of a command that created or revoked a key. With `--json`, prints the whole
  /// answer.
  ///
  /// - Parameter member: The member of the answer that is printed without `--json`.
  static func show(_ answer: JSONValue, _ member: String, _ arguments: Arguments) {
    if arguments.flag("json") {
      Output.json(answer)
    } else {
      Output.line(answer[member]?.string ?? "")
    }
  }

  /// Prints the lines of a key.
  private static func print(_ key: JSONValue, kind: String) {
    let titles = ["apiToken": "API token", "server": "server key", "admin": "admin key"]
    func text(_ member: String) -> String { key[member]?.string?.printable ?? "" }
    Output.line("\(titles[kind] ?? kind) \(text("identifier"))  \(text("name"))")
    let made = "made \(day(key["created"]))"
    let place =
      kind == "admin"
      ? "the console and the admin API" : "\(text("container")) (\(text("environment")))"
    Output.line("  \(place), \(made)")
    if kind == "apiToken" {
      let origins = key["origins"]?.array?.compactMap(\.string) ?? []
      Output.line(
        "  pages from " + (origins.isEmpty ? "anywhere" : origins.joined(separator: ", ")))
      Output.line(
        key["redirect"] == nil
          ? "  sign-in posts a message" : "  sign-in leads to \(text("redirect"))")
    }
    if kind == "server" { Output.line("  user record \(text("user"))") }
    if key["revoked"] != nil { Output.line("  REVOKED \(day(key["revoked"]))") }
  }

  /// Returns the date of a time in milliseconds since 1970, without the time of day.
  private static func day(_ time: JSONValue?) -> Substring {
    (time?.timeText ?? "").prefix(10)
  }
}
