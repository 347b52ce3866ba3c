import AdminAPI
import CommandInterface
import JSONCoding

/// The command `petrel explain dry-run`, which evaluates a record against the subscriptions, or a
/// subscription against past changes.
///
/// Nothing is saved. The command calls `POST explain/dry-run/record` or `POST
/// explain/dry-run/subscription` of the admin API.
struct ExplainDryRunCommand: Command {
  let name = "explain dry-run"
  let example =
    "petrel explain dry-run record --file note.json --container iCloud.com.example.app"
  let summary =
    "Shows which subscriptions a record would fire, or which changes would have fired a subscription. Saves nothing."
  let operands = "record|subscription"
  let options: [Arguments.Option] =
    AdminArgument.ofDatabase.options + [
      .init(
        "file", "FILE",
        "JSON in the form of CloudKit Web Services, {\"event\": \"create\", \"record\": {…}} or "
          + "{\"subscription\": {…}}; - is standard input", isRequired: true)
    ] + question.options + [AdminOptions.json] + AdminOptions.all

  private static let question = AdminEndpoint.get("explain/record").arguments.filter {
    ["subscriber", "subscriptionID", "limit"].contains($0.name)
  }

  func run(_ arguments: Arguments) async throws -> Int32 {
    let kind = try arguments.word("record or subscription")
    guard ["record", "subscription"].contains(kind) else {
      throw UsageError("takes record or subscription, not '\(kind)'")
    }
    guard let file = arguments.string("file") else {
      throw UsageError("needs --file, with the \(kind) as JSON")
    }
    var body = try (AdminArgument.ofDatabase + Self.question).members(arguments)
    if kind == "subscription" { body["subscriptionID"] = nil }
    if kind == "record", body["limit"] != nil {
      throw UsageError("--limit is for the changes of a subscription, not for a record")
    }
    guard let given = try JSONFile.read(file).object else {
      throw UsageError("\(file) must hold a JSON object")
    }
    for name in given.keys.sorted() where ![kind, "event"].contains(name) {
      throw UsageError("\(file): unknown key '\(name)'; the keys are event and \(kind)")
    }
    body.merge(given) { $1 }
    if kind == "subscription" { body["event"] = nil }
    let output = AdminOutput.lines { answer, arguments in
      let lines = ExplanationLines(answer, arguments)
      return kind == "record" ? lines.ofRecordDryRun : lines.ofSubscriptionDryRun
    }
    return try await AdminOptions.withAccess(arguments) { [body] access in
      try await output.show(arguments) { _ in
        try await access.post("explain/dry-run/" + kind, body)
      }
    }
  }
}
