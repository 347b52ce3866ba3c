import AdminAPI
import CommandInterface
import JSONCoding

/// The commands that explain why a push came or did not come. A firing is a change that matched a
/// subscription, with the notification for it.
extension AdminCommand {
  static let explainRecord = AdminCommand(
    "explain record",
    "Shows what happened after a record's latest changes: who was notified, who was not, and why.",
    example: "petrel explain record note-17 --container iCloud.com.example.app",
    .get("explain/record"), operands: ["recordName"], leavingOut: ["zoneOwner", "before"],
    exitStatuses: [
      (ExitStatus.done, "changes were found"),
      (ExitStatus.failed, "no changes were found, or the request failed"),
    ],
    prints: explanation(
      { $0["changes"]?.array?.isEmpty == false ? ExitStatus.done : ExitStatus.failed },
      \.ofRecord))

  static let explainSubscription = AdminCommand(
    "explain subscription",
    "Shows a subscription's latest firings, their pushes, and how many changes did not match.",
    example:
      "petrel explain subscription pinned-notes --container iCloud.com.example.app --subscriber anna",
    .get("explain/subscription"), operands: ["subscriptionID"], check: needsSubscriber,
    prints: explanation(
      { $0["exists"]?.bool == true ? ExitStatus.done : ExitStatus.failed }, \.ofSubscription))

  private static func explanation(
    _ status: @escaping @Sendable (JSONValue) -> Int32,
    _ lines: KeyPath<ExplanationLines, [String]> & Sendable
  ) -> AdminOutput {
    .judged(status) { answer, arguments in
      ExplanationLines(answer, arguments)[keyPath: lines]
    }
  }
}
