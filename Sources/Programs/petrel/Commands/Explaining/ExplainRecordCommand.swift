import CommandInterface

/// The command `petrel explain record`, which shows the latest changes of a record. For each change
/// it shows the notifications, and the reasons why other subscriptions did not fire.
///
/// It calls `GET explain/record` of the admin API, and exits with status 1 if there are no changes.
enum ExplainRecordCommand: Command {
  static let name = "explain record"
  static let example = "petrel explain record note-17 --container iCloud.com.example.app"
  static let summary =
    "Shows what happened after a record's latest changes: who was notified, who was not, and why."
  static let exitStatuses = [
    (ExitStatus.done, "changes were found"),
    (ExitStatus.failed, "no changes were found, or the request failed"),
  ]
  static let operands = "NAME"
  static let options: [Arguments.Option] =
    ExplainOptions.place + [.init("zone", "NAME", "the record's zone (default _defaultZone)")]
    + [ExplainOptions.subscription, ExplainOptions.subscriber] + ExplainOptions.output

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let recordName = try arguments.word("the record's name")
    var query: [String: String?] = try ExplainOptions.members(arguments).mapValues { $0 }
    query["recordName"] = recordName
    query["zone"] = arguments.string("zone")
    let answer = try await AdminOptions.withAccess(arguments) { [query] in
      try await $0.get("explain/record", query)
    }
    ExplainOptions.show(answer, arguments) { $0.ofRecord }
    return answer["changes"]?.array?.isEmpty ?? true ? 1 : 0
  }
}
