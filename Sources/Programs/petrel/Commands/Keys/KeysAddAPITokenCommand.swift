import CommandInterface
import DatabaseAPI
import Foundation
import JSONCoding
import Settings

/// The command `petrel keys add-api-token`, which creates an API token for web apps and prints it.
///
/// It calls `POST keys/add-api-token` of the admin API. When a container's environment has an API
/// token, each web app needs one for that environment.
enum KeysAddAPITokenCommand: Command {
  static let name = "keys add-api-token"
  static let example =
    "petrel keys add-api-token website --container iCloud.com.example.app "
    + "--origins https://example.com"
  static let summary =
    "Creates an API token for a web app and prints it. The container then requires one from each web app."
  static let operands = "NAME"
  static let options: [Arguments.Option] =
    [
      ContainerOptions.container, ContainerOptions.environment,
      .init(
        "origins", "LIST",
        "the origins of its pages, separated by commas (default any)"),
      .init(
        "redirect", "URL",
        "the URL to which the sign-in page returns (default none: the page posts a message to its opener)"
      ),
      AdminOptions.json,
    ] + AdminOptions.all

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let name = try arguments.word("NAME for the token")
    let container = try ContainerOptions.container(arguments)
    let environment = try ContainerOptions.environment(arguments)
    let origins = try (arguments.string("origins") ?? "").split(separator: ",").map {
      text throws(UsageError) in
      do throws(ConfigurationError) {
        return try WebOrigin(parsing: text.trimmingCharacters(in: .whitespaces))
      } catch {
        throw UsageError("--origins: \(error)")
      }
    }
    var body: [String: JSONValue] = [
      "name": .string(name), "container": .string(container),
      "environment": .string(environment.rawValue),
      "origins": .array(origins.map { .string($0.description) }),
    ]
    if let url = arguments.string("redirect") { body["redirect"] = .string(try redirect(url)) }
    let answer = try await AdminOptions.withAccess(arguments, makesStore: true) { [body] in
      try await $0.post("keys/add-api-token", body)
    }
    KeysListCommand.show(answer, "token", arguments)
    return 0
  }

  /// Returns the URL of `--redirect`.
  ///
  /// - Throws: `UsageError` if the URL is invalid.
  private static func redirect(_ text: String) throws(UsageError) -> String {
    do throws(ConfigurationError) {
      try Registration.check(redirect: text)
    } catch {
      throw UsageError("--redirect \(error)")
    }
    return text
  }
}
