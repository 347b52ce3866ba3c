import AdminAPI
import CommandInterface
import JSONCoding

extension AdminCommand {
  /// When a container's environment has an API token, each web app needs one for that environment.
  static let keysAddAPIToken = AdminCommand(
    "keys add-api-token",
    "Creates an API token for a web app and prints it. The container then requires one from each web app.",
    example: "petrel keys add-api-token website --container iCloud.com.example.app "
      + "--origins https://example.com", .post("keys/add-api-token"), operands: ["name"],
    makesStore: true, prints: .member("token"))

  static let keysAddAdminKey = AdminCommand(
    "keys add-admin-key", "Creates a key for the console and the admin API and prints it.",
    example: "petrel keys add-admin-key --label laptop", .post("keys/add-admin-key"),
    makesStore: true, prints: .member("key"))

  static let keysRevoke = AdminCommand(
    "keys revoke", "Revokes an API token, a server-to-server key or an admin key.",
    example: "petrel keys revoke 0123456789abcdef", .post("keys/revoke"),
    operands: ["identifier"], prints: .member("revoked"))

  static let keysList = AdminCommand(
    "keys list", "Lists API tokens, server-to-server keys and admin keys.",
    example: "petrel keys list --container iCloud.com.example.app", .get("keys"),
    prints: .lines { answer, _ in
      let keys = answer["keys"]?.array ?? []
      return ["apiToken", "server", "admin"].flatMap { kind in
        keys.filter { $0.text("kind") == kind }.flatMap { keyLines($0, kind) }
      }
    })

  private static func keyLines(_ key: JSONValue, _ kind: String) -> [String] {
    let titles = ["apiToken": "API token", "server": "server key", "admin": "admin key"]
    func day(_ member: String) -> Substring { (key.time(member) ?? "").prefix(10) }
    let place =
      kind == "admin"
      ? "the console and the admin API" : "\(key.text("container")) (\(key.text("environment")))"
    var lines = [
      "\(titles[kind] ?? kind) \(key.text("identifier"))  \(key.text("name"))",
      "  \(place), made \(day("created"))",
    ]
    if kind == "apiToken" {
      let origins = key["origins"]?.array?.compactMap(\.string) ?? []
      lines += [
        "  pages from " + (origins.isEmpty ? "anywhere" : origins.joined(separator: ", ")),
        key["redirect"] == nil
          ? "  sign-in posts a message" : "  sign-in leads to \(key.text("redirect"))",
      ]
    }
    if kind == "server" { lines.append("  user record \(key.text("user"))") }
    if key["revoked"] != nil { lines.append("  REVOKED \(day("revoked"))") }
    return lines
  }
}
