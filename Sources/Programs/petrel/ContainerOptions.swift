import CloudKitModel
import CommandInterface

/// The options by which commands are told a container and its environment.
enum ContainerOptions {
  static let container = Arguments.Option(
    "container", "IDENTIFIER", "the container, such as iCloud.com.example.app", isRequired: true)
  static let environment = Arguments.Option(
    "environment", "NAME", "development or production (default development)",
    words: ContainerEnvironment.allCases.map(\.rawValue))

  static func container(_ arguments: Arguments) throws -> String {
    guard let container = arguments.string("container") else {
      throw UsageError("needs --container IDENTIFIER")
    }
    return try checked(container)
  }

  /// - Throws: ``UsageError`` for what is no container's identifier.
  static func checked(_ container: String) throws -> String {
    guard container.hasPrefix("iCloud."), !container.contains("/") else {
      throw UsageError(
        "a container must begin with 'iCloud.', as in iCloud.com.example.app, not '\(container)'")
    }
    return container
  }

  static func environment(_ arguments: Arguments) throws -> ContainerEnvironment {
    guard let text = arguments.string("environment") else { return .development }
    guard let environment = ContainerEnvironment(rawValue: text) else {
      throw UsageError("--environment must be development or production, not '\(text)'")
    }
    return environment
  }
}
