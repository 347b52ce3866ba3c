import CommandInterface
import JSONCoding

/// The options of the `explain` commands, and the output of their answers.
enum ExplainOptions {
  /// The options that name the database.
  static let place = PlaceOptions.all
  /// The option that selects subscriptions by ID.
  static let subscription = Arguments.Option(
    "subscription", "ID", "only subscriptions with this ID")
  /// The option that selects subscriptions by user.
  static let subscriber = Arguments.Option(
    "subscriber", "USER", "only subscriptions of this user: a name or a user record name")
  /// The options for the size and the format of the output, and for the server.
  static let output: [Arguments.Option] =
    [
      .init("limit", "NUMBER", "changes or firings at most, 1 to 1000 (default 10)"),
      .init("json", nil, "prints JSON, with times in milliseconds since 1970"),
    ] + AdminOptions.all

  /// Returns the options as arguments of the admin API.
  ///
  /// - Throws: `UsageError` if an option is missing or wrong.
  static func members(_ arguments: Arguments) throws -> [String: String] {
    var members = try PlaceOptions.members(arguments)
    members["subscriber"] = arguments.string("subscriber")
    members["subscriptionID"] = arguments.string("subscription")
    members["limit"] = try arguments.int("limit", in: 1...1_000).map { String($0) }
    return members
  }

  /// Prints an explanation: with `--json` as JSON, otherwise as the lines that `lines` returns.
  static func show(
    _ answer: JSONValue, _ arguments: Arguments, lines: (ExplanationLines) -> [String]
  ) {
    if arguments.flag("json") { return Output.json(answer) }
    let isRestricted = ["subscriber", "subscription"].contains { arguments.string($0) != nil }
    for line in lines(ExplanationLines(answer, isRestricted: isRestricted)) {
      Output.line(line.printable)
    }
  }
}
