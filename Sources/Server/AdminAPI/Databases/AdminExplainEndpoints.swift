import CloudKitModel
import Explanation
import Foundation
import HTTPService
import JSONCoding
import StoreModel
import WebServices

/// Why pushes came or did not: `explain/…` of the admin API.
struct AdminExplainEndpoints: AdminEndpoints {
  /// Subscriptions that one answer looks at, one by one.
  static let subscriptionsLookedAt = 2_000
  /// Changes that one answer tries a subscription on.
  static let changesTried = 2_000

  let store: ExplanationStore
  let accounts: any AccountReading
  let adminAccess: any AdminKeyStore
  let credentials: any CredentialReading
  let databases: AdminDatabases
  /// The index by which changes are dispatched, where the server has it at hand.
  let index: Explainer.Index?
  /// Whether others wait beside who asks, so that one answer looks at so much and no more.
  let isBounded: Bool

  private static let greatestLimit = 1_000
  private static let limit = AdminArgument(
    "limit", .integer(1...greatestLimit), "how many changes are looked at, or told")
  private static let before = AdminArgument(
    "before", .integer(0...Int.max), "only changes before the one with this sequence")
  private static let zone: [AdminArgument] = ["zone", "zoneOwner", .needed("recordName")]
  private static let question: [AdminArgument] = ["subscriber", "subscriptionID", limit]

  var endpoints: [AdminEndpoint] {
    [
      .get(
        "explain/record",
        AdminDatabases.arguments + Self.zone + Self.question + [Self.before], record
      )
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
        AdminDatabases.arguments + [.needed("record"), "event"] + Self.question
          + ["continuation"], changes: false, recordTrial
      )
      .described(
        "Which subscriptions a record would fire; nothing is saved", answers: .recordDryRun),
      .post(
        "explain/trial/subscription",
        AdminDatabases.arguments + [
          .needed("subscription"), "predicate", "subscriber", Self.limit, Self.before,
        ], changes: false, subscriptionTrial
      )
      .described(
        "Which recent changes would have fired a subscription", answers: .subscriptionDryRun),
    ]
  }

  private func record(_ request: AdminRequest) async throws -> HTTPResponse {
    let arguments = request.arguments
    let (database, address) = try await databases.existing(arguments)
    // Only a shared database has zones of others.
    let owner = address.scope == .shared ? try arguments.text("zoneOwner") : nil
    let zoneID = ZoneID(
      zoneName: try arguments.text("zone") ?? ZoneID.defaultZoneName,
      ownerName: owner ?? ZoneID.currentOwnerName)
    let recordID = RecordID(recordName: try arguments.required("recordName"), zoneID: zoneID)
    let explanation = try await explainer(arguments).explain(
      recordID, in: database, about: question(arguments), before: before(arguments))
    return try await answer(request, explanation.json)
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
    var members: [String: JSONValue] = [
      "subscriber": .string(subscriber), "subscriptionID": .string(subscriptionID),
    ]
    if let subscription = explanation.subscription {
      members["predicate"] = subscription.predicate.map { .string($0) }
      var writer = JSONWriter()
      subscription.write(
        to: &writer, context: MessageContext(ownerNaming: .relative(to: subscriber)))
      members["subscription"] = try JSONValue(parsing: writer.data)
    }
    return try await answer(request, explanation.json, with: members)
  }

  private func recordTrial(_ request: AdminRequest) async throws -> HTTPResponse {
    let arguments = request.arguments
    let (database, _) = try await databases.existing(arguments)
    let record: Record = try arguments.part("record")
    guard !record.recordType.isEmpty else {
      throw arguments.mistake("record", "has no recordType")
    }
    try arguments.check("record") { () throws(ModelError) in try record.recordID.validate() }
    let event: ProposedEvent? = try arguments.word("event")
    let last = try AdminContinuation.parts(arguments, count: 2).map {
      SubscriptionName(subscriber: $0[0], subscriptionID: $0[1])
    }
    let run = try await explainer(arguments).dryRun(
      Change(
        event: (event ?? .create).changeEvent, zoneID: record.recordID.zoneID, record: record,
        notificationID: UUID(), timestamp: request.now), in: database, about: question(arguments),
      after: last)
    let next = run.next.map {
      JSONValue.string(AdminContinuation.text([$0.subscriber, $0.subscriptionID]))
    }
    return try await answer(
      request, run.json, with: next.map { ["continuation": $0] } ?? [:])
  }

  private func subscriptionTrial(_ request: AdminRequest) async throws -> HTTPResponse {
    let arguments = request.arguments
    let (database, address) = try await databases.existing(arguments)
    let proposed: Subscription = try arguments.part("subscription")
    try arguments.check("subscription") { () throws(ModelError) in
      try proposed.validate(in: address.scope)
    }
    let subscription = try AdminSubscriptionsEndpoints.subscription(
      proposed, withPredicateOf: arguments, in: address.scope)
    let run = try await explainer(arguments).dryRun(
      subscription, of: question(arguments).subscriber ?? address.owner ?? "", in: database,
      before: before(arguments))
    return try await answer(
      request, run.json, with: run.next.map { ["before": .int($0)] } ?? [:])
  }

  // MARK: Arguments

  private func explainer(_ arguments: AdminArguments) throws -> Explainer {
    var limits = Explainer.Limits()
    limits.changes = try arguments.int("limit", in: 1...Self.greatestLimit) ?? limits.changes
    if isBounded {
      limits.subscriptionsLookedAt = Self.subscriptionsLookedAt
      limits.subscriptionsTried = Self.subscriptionsLookedAt
      limits.changesTried = Self.changesTried
    }
    return Explainer(store: store, limits: limits, index: index)
  }

  private func before(_ arguments: AdminArguments) throws -> Int64? {
    try arguments.int("before", in: 0...Int.max).map { Int64($0) }
  }

  private func question(_ arguments: AdminArguments) async throws -> Explainer.Question {
    var question = Explainer.Question(subscriptionID: try arguments.text("subscriptionID"))
    if let user = try arguments.text("subscriber") {
      question.subscriber = try await databases.userRecordName(user, arguments)
    }
    return question
  }

  // MARK: Answers

  /// An explanation, and what those are called that it tells of: accounts and keys.
  private func answer(
    _ request: AdminRequest, _ json: JSONValue, with others: [String: JSONValue] = [:]
  ) async throws -> HTTPResponse {
    var members = (json.object ?? [:]).merging(others) { $1 }
    let told = JSONValue.object(members).userRecordNames
    let names = try await accounts.userNames(of: told)
    if !names.isEmpty { members["users"] = .object(names.mapValues { .string($0) }) }
    let keys = try await keyNames(of: told.subtracting(names.keys))
    if !keys.isEmpty { members["keys"] = .object(keys.mapValues { .string($0) }) }
    return HTTPResponse(json: Data(JSONValue.object(members).text.utf8))
  }

  /// The labels of those keys that make changes under these user record names.
  private func keyNames(of userRecordNames: Set<String>) async throws -> [String: String] {
    guard !userRecordNames.isEmpty else { return [:] }
    var names: [String: String] = [:]
    for key in try await adminAccess.adminKeys() {
      names[AdminIdentity(key: key).userRecordName] = key.label
    }
    for key in try await credentials.programCredentials().serverKeys {
      names[key.userRecordName] = key.name
    }
    return names.filter { userRecordNames.contains($0.key) }
  }
}

extension JSONValue {
  /// The users that an explanation tells of: whose subscriptions they are, and who made changes.
  fileprivate var userRecordNames: Set<String> {
    if let elements = array {
      return elements.reduce(into: []) { $0.formUnion($1.userRecordNames) }
    }
    var names: Set<String> = []
    for (key, value) in object ?? [:] {
      if ["subscriber", "changedBy"].contains(key), let name = value.string {
        names.insert(name)
      } else {
        names.formUnion(value.userRecordNames)
      }
    }
    return names
  }
}

/// What is proposed to be done with a record.
enum ProposedEvent: String, CaseIterable {
  case create, update, delete

  fileprivate var changeEvent: ChangeEvent {
    switch self {
    case .create: .recordCreated
    case .update: .recordUpdated
    case .delete: .recordDeleted
    }
  }
}
