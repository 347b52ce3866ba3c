import CloudKitModel
import Explanation
import Foundation
import HTTPService
import JSONCoding
import Storage
import WebServices

/// Why pushes came or did not: `explain/…` of the admin API.
struct AdminExplainEndpoints: AdminEndpoints {
  private let store: any RecordStore
  private let databases: AdminDatabases

  init(store: any RecordStore, databases: AdminDatabases) {
    self.store = store
    self.databases = databases
  }

  private static let greatestLimit = 1_000
  private static let limit = AdminArgument(
    "limit", .integer(1...greatestLimit), "how many changes are looked at, or told")
  private static let zone: [AdminArgument] = ["zone", "zoneOwner", .needed("recordName")]
  private static let question: [AdminArgument] = ["subscriber", "subscriptionID", limit]

  var endpoints: [AdminEndpoint] {
    [
      .get("explain/record", AdminDatabases.arguments + Self.zone + Self.question, record)
        .described(
          "What became of a record's latest changes, and why", answers: .recordExplanation),
      .get(
        "explain/subscription",
        AdminDatabases.arguments + ["subscriber", .needed("subscriptionID"), Self.limit],
        subscription
      )
      .described("How a subscription fared of late", answers: .subscriptionExplanation),
      .post(
        "explain/trial/record",
        AdminDatabases.arguments + [.needed("record"), "event"] + Self.question, changes: false,
        recordTrial
      )
      .described(
        "Which subscriptions a record would fire; nothing is saved", answers: .recordDryRun),
      .post(
        "explain/trial/subscription",
        AdminDatabases.arguments + [.needed("subscription"), "subscriber", Self.limit],
        changes: false, subscriptionTrial
      )
      .described(
        "Which recent changes would have fired a subscription", answers: .subscriptionDryRun),
    ]
  }

  private func record(_ request: AdminRequest) async throws -> HTTPResponse {
    let arguments = request.arguments
    let (database, _) = try await databases.existing(arguments)
    let zoneID = ZoneID(
      zoneName: try arguments.text("zone") ?? ZoneID.defaultZoneName,
      ownerName: try arguments.text("zoneOwner") ?? ZoneID.currentOwnerName)
    let recordID = RecordID(recordName: try arguments.required("recordName"), zoneID: zoneID)
    let explanation = try await explainer(arguments).explain(
      recordID, in: database, about: question(arguments))
    return try await answer(explanation.json)
  }

  private func subscription(_ request: AdminRequest) async throws -> HTTPResponse {
    let arguments = request.arguments
    let (database, address) = try await databases.existing(arguments)
    let subscriptionID = try arguments.required("subscriptionID")
    let question = try await question(arguments)
    guard let subscriber = question.subscriber ?? address.owner else {
      throw arguments.mistake("subscriber", "is missing: whose subscription it is")
    }
    let explanation = try await explainer(arguments).explain(
      SubscriptionName(subscriber: subscriber, subscriptionID: subscriptionID), in: database)
    return try await answer(explanation.json)
  }

  private func recordTrial(_ request: AdminRequest) async throws -> HTTPResponse {
    let arguments = request.arguments
    let (database, _) = try await databases.existing(arguments)
    let trial = try RecordTrialRequest(
      parsing: body(arguments, "record", "event"), context: MessageContext(ownerNaming: .implied))
    let run = try await explainer(arguments).dryRun(
      Change(
        event: trial.event, zoneID: trial.record.recordID.zoneID, record: trial.record,
        notificationID: UUID(), timestamp: request.now), in: database, about: question(arguments))
    return try await answer(run.json)
  }

  private func subscriptionTrial(_ request: AdminRequest) async throws -> HTTPResponse {
    let arguments = request.arguments
    let (database, address) = try await databases.existing(arguments)
    let trial = try SubscriptionTrialRequest(
      parsing: body(arguments, "subscription"), context: MessageContext(ownerNaming: .implied),
      scope: address.scope)
    let run = try await explainer(arguments).dryRun(
      trial.subscription, of: question(arguments).subscriber ?? address.owner ?? "", in: database)
    return try await answer(run.json)
  }

  /// The answer, with the names of the accounts in it by their user record names.
  private func answer(_ json: JSONValue) async throws -> HTTPResponse {
    let names = try await store.administration.userNames(of: json.userRecordNames)
    var members = json.object ?? [:]
    if !names.isEmpty { members["users"] = .object(names.mapValues { .string($0) }) }
    var writer = JSONWriter()
    writer.value(.object(members))
    return HTTPResponse(headers: HTTPResponse.jsonHeaders, body: .data(writer.data))
  }

  // MARK: Arguments

  private func explainer(_ arguments: AdminArguments) throws -> Explainer {
    var limits = Explainer.Limits()
    limits.changes = try arguments.int("limit", in: 1...Self.greatestLimit) ?? limits.changes
    return Explainer(store: store, limits: limits)
  }

  private func question(_ arguments: AdminArguments) async throws -> Explainer.Question {
    var question = Explainer.Question(subscriptionID: try arguments.text("subscriptionID"))
    if let user = try arguments.text("subscriber") {
      question.subscriber = try await databases.userRecordName(user, arguments)
    }
    return question
  }

  /// What the trial's own reader reads: some members of the body.
  private func body(_ arguments: AdminArguments, _ names: String...) -> Data {
    var members: [String: JSONValue] = [:]
    for name in names { members[name] = arguments.value(name) }
    var writer = JSONWriter()
    writer.value(.object(members))
    return writer.data
  }
}

extension JSONValue {
  /// Those who are named in an explanation.
  fileprivate var userRecordNames: Set<String> {
    switch self {
    case .array(let elements): return elements.reduce(into: []) { $0.formUnion($1.userRecordNames) }
    case .object(let members):
      return members.reduce(into: []) { names, member in
        if ["subscriber", "changedBy"].contains(member.key), let name = member.value.string {
          names.insert(name)
        } else {
          names.formUnion(member.value.userRecordNames)
        }
      }
    default: return []
    }
  }
}
