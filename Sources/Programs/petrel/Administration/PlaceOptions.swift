import CloudKitModel
import CommandInterface
import JSONCoding

/// The options that name a database. They are the same for all commands.
enum PlaceOptions {
  /// Container, environment, database scope and user.
  static let all: [Arguments.Option] = [
    ContainerOptions.container, ContainerOptions.environment,
    .init(
      "database", "SCOPE", "public, private or shared (default public)",
      words: DatabaseScope.allCases.map { "\($0)" }),
    .init("user", "USER", "the user of a private or shared database: a name or a user record name"),
  ]
  /// The option that names a zone.
  static let zone = Arguments.Option("zone", "NAME", "the zone (default _defaultZone)")
  /// The option that names the user who owns the subscriptions.
  static let subscriber = Arguments.Option(
    "subscriber", "USER", "the user who has the subscriptions: a name or a user record name")

  /// Returns the arguments of the admin API that name the database. The default is the public
  /// database.
  ///
  /// - Throws: `UsageError` if the container is missing, a value is unknown, or `--user` does not
  ///   fit the scope.
  static func members(_ arguments: Arguments) throws -> [String: String] {
    var members = [
      "container": try ContainerOptions.container(arguments),
      "environment": try ContainerOptions.environment(arguments).rawValue,
    ]
    let scope = arguments.string("database") ?? "public"
    guard DatabaseScope.allCases.contains(where: { "\($0)" == scope }) else {
      throw UsageError("--database must be public, private or shared, not '\(scope)'")
    }
    members["database"] = scope
    members["user"] = arguments.string("user")
    if scope == "public", members["user"] != nil {
      throw UsageError("--user needs --database private or shared")
    }
    if scope != "public", members["user"] == nil {
      throw UsageError("--database \(scope) needs --user, the user of the database")
    }
    return members
  }
}

extension [String: String] {
  /// The members of a JSON object with string values.
  var json: [String: JSONValue] { mapValues { .string($0) } }
}
