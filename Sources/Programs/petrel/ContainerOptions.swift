import CloudKitModel
import CommandInterface

/// The options that name a container and its environment.
enum ContainerOptions {
  /// The option of the container, which most commands require.
  static let container = Arguments.Option(
    "container", "IDENTIFIER", "the container, such as iCloud.com.example.app", isRequired: true)
  /// The option of the environment.
  static let environment = Arguments.Option(
    "environment", "NAME", "development or production (default development)",
    words: ContainerEnvironment.allCases.map(\.rawValue))

  /// Returns the container.
  ///
  /// - Throws: `UsageError` if the option is missing or the identifier is invalid.
  static func container(_ arguments: Arguments) throws -> String {
    guard let container = arguments.string("container") else {
      throw UsageError("needs --container IDENTIFIER")
    }
    return try checked(container)
  }

  /// Returns the identifier if it is valid.
  ///
  /// - Throws: `UsageError` if it does not begin with `iCloud.` or contains a slash.
  static func checked(_ container: String) throws -> String {
    guard container.hasPrefix("iCloud."), !container.contains("/") else {
      throw UsageError(
        "a container must begin with 'iCloud.', as in iCloud.com.example.app, not '\(container)'")
    }
    return container
  }

  /// Returns the environment, `development` by default.
  ///
  /// - Throws: `UsageError` if the option has another value than `development` or `production`.
  static func environment(_ arguments: Arguments) throws -> ContainerEnvironment {
    guard let text = arguments.string("environment") else { return .development }
    guard let environment = ContainerEnvironment(rawValue: text) else {
      throw UsageError("--environment must be development or production, not '\(text)'")
    }
    return environment
  }
}
