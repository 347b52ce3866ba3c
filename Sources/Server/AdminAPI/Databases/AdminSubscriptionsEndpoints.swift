import CloudKitModel
import Foundation
import HTTPService
import JSONCoding
import PredicateLanguage
import StoreModel
import WebServices

/// Subscriptions of any user in any database.
struct AdminSubscriptionsEndpoints: AdminEndpoints {
  let accounts: any AccountReading
  let administration: any AdministrationStore
  let subscriptions: any SubscriptionStore
  let databases: AdminDatabases

  var endpoints: [AdminEndpoint] {
    [
      .get(
        "subscriptions",
        AdminDatabases.arguments + [
          "subscriber", "subscriptionID", "recordType", "text", "limit", "continuation",
        ], list
      )
      .described(
        "Subscriptions with their owners and predicates",
        answers: .page("subscriptions", of: .subscription)),
      .post(
        "subscriptions/save",
        AdminDatabases.arguments + ["subscriber", .needed("subscription"), "predicate"], save
      )
      .described(
        "Saves a subscription; a predicate takes the place of its filters",
        answers: .object(["subscription": Subscription.schema(in: .answers)])),
      .post(
        "subscriptions/delete",
        AdminDatabases.arguments + ["subscriber", .needed("subscriptionID")], delete
      )
      .described("Deletes a subscription", answers: .object(["deleted": .text])),
    ]
  }

  private func list(_ request: AdminRequest) async throws -> HTTPResponse {
    let arguments = request.arguments
    let address = try await databases.address(arguments)
    var subscriber = address.owner
    if subscriber == nil, let word = try arguments.text("subscriber") {
      subscriber = try await databases.userRecordName(word, arguments)
    }
    let last = try AdminContinuation.parts(arguments, count: 2).map {
      SubscriptionName(subscriber: $0[0], subscriptionID: $0[1])
    }
    let limit = try arguments.limit()
    let subscriptionID = try arguments.text("subscriptionID")
    let recordType = try arguments.text("recordType")
    let text = try arguments.text("text")?.lowercased()
    guard let database = try await databases.store.existingDatabase(at: address) else {
      return request.object { writer in
        writer.key("subscriptions")
        writer.array { _ in }
      }
    }
    let page = try await administration.subscriptions(
      in: database, of: subscriber, after: last, limit: limit
    ) { stored in
      if let subscriptionID, stored.subscription.subscriptionID != subscriptionID { return false }
      if let recordType, stored.subscription.recordType != recordType { return false }
      guard let text else { return true }
      return stored.searchText.lowercased().contains(text)
    }
    let names = try await accounts.userNames(
      of: Set(page.found.map(\.subscriber)))
    return request.object { writer in
      writer.key("subscriptions")
      writer.array { writer in
        for stored in page.found {
          writer.object { Self.write(stored, userName: names[stored.subscriber], to: &$0) }
        }
      }
      if let next = page.next {
        writer.member(
          "continuation", AdminContinuation.text([next.subscriber, next.subscriptionID]))
      }
    }
  }

  private static func write(
    _ stored: StoredSubscription, userName: String?, to writer: inout JSONWriter
  ) {
    writer.member("subscriber", stored.subscriber)
    writer.member("userName", ifPresent: userName)
    writer.member("predicate", ifPresent: stored.subscription.predicate)
    writer.key("subscription")
    stored.subscription.write(
      to: &writer, context: MessageContext(ownerNaming: .relative(to: stored.subscriber)))
  }

  private func save(_ request: AdminRequest) async throws -> HTTPResponse {
    let arguments = request.arguments
    let subscriber = try await subscriber(arguments)
    guard let json = arguments.value("subscription") else {
      throw arguments.mistake("subscription", "is missing")
    }
    let body: JSONValue = ["operations": [["operationType": "create", "subscription": json]]]
    let message = MessageContext(ownerNaming: .relative(to: subscriber))
    let parsed = try ModifySubscriptionsRequest(parsing: Data(body.text.utf8), context: message)
    guard let first = parsed.operations.first, case .save(let saved) = try first.get() else {
      throw arguments.mistake("subscription", "is none")
    }
    let address = try await databases.address(arguments)
    let subscription = try Self.subscription(saved, withPredicateOf: arguments, in: address.scope)
    // The first that is saved in a database makes it, as an app's would.
    return try await apply(
      .save(subscription), of: subscriber,
      in: try await databases.store.database(at: address), request)
  }

  /// The subscription with the filters of the argument `predicate` in place of its own, if it is there.
  static func subscription(
    _ subscription: Subscription, withPredicateOf arguments: AdminArguments, in scope: DatabaseScope
  ) throws -> Subscription {
    var subscription = subscription
    if let format = try arguments.text("predicate") {
      let filters = try AdminRecordsEndpoints.filters(format, arguments, now: nil)
      guard case .query(var query, let zoneID, let options) = subscription.kind else {
        throw arguments.mistake("predicate", "goes with a query subscription only")
      }
      query.filters = filters
      subscription.kind = .query(query, zoneID: zoneID, options: options)
    }
    try subscription.validate(in: scope)
    return subscription
  }

  private func delete(_ request: AdminRequest) async throws -> HTTPResponse {
    let subscriber = try await subscriber(request.arguments)
    let subscriptionID = try request.arguments.required("subscriptionID")
    let (database, _) = try await databases.existing(request.arguments)
    return try await apply(
      .delete(subscriptionID: subscriptionID), of: subscriber, in: database, request)
  }

  /// Whose subscription it is: in a private or shared database its owner's.
  private func subscriber(_ arguments: AdminArguments) async throws -> String {
    if let owner = try await databases.address(arguments).owner { return owner }
    return try await databases.userRecordName(try arguments.required("subscriber"), arguments)
  }

  private func apply(
    _ operation: SubscriptionOperation, of subscriber: String, in database: DatabaseID,
    _ request: AdminRequest
  ) async throws -> HTTPResponse {
    let outcomes = try await subscriptions.modifySubscriptions(
      [operation], of: subscriber, in: database, timestamp: request.now)
    switch outcomes.first {
    case .saved(let subscription, let replaced):
      return request.object { writer in
        writer.key("subscription")
        subscription.write(
          to: &writer, context: MessageContext(ownerNaming: .relative(to: subscriber)),
          replaced: replaced)
      }
    case .deleted(let subscriptionID):
      return request.object { $0.member("deleted", subscriptionID) }
    case .failed(_, let failure): throw ServiceError(failure)
    case nil: throw ServiceError(.internalError, "the store gave no outcome")
    }
  }
}

extension Subscription {
  /// The record type that it watches; nil where it watches all.
  var recordType: String? {
    switch kind {
    case .query(let query, _, _): query.recordType
    case .recordZone(_, let recordType), .database(let recordType): recordType
    }
  }

  /// What it watches for, as apps write it; nil for one without a query.
  var predicate: String? {
    guard case .query(let query, _, _) = kind else { return nil }
    return PredicatePrinter.text(PredicateNode(query.filters))
  }
}

extension StoredSubscription {
  /// What a search for text looks at.
  fileprivate var searchText: String {
    [
      subscription.subscriptionID, subscriber, subscription.recordType ?? "",
      subscription.predicate ?? "", subscription.notificationInfo?.alertBody ?? "",
    ].joined(separator: "\n")
  }
}
