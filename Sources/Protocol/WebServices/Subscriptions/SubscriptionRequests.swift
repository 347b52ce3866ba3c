import CloudKitModel
import JSONCoding

/// The body of `subscriptions/modify`.
public struct ModifySubscriptionsRequest: Sendable {
  public var operations: [Result<SubscriptionOperation, FailedItem>]

  public init(operations: [SubscriptionOperation]) {
    self.operations = operations.map { .success($0) }
  }
}

extension ModifySubscriptionsRequest: Message, MessageObject {
  package static let blank = ModifySubscriptionsRequest(operations: [])

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.operations("operations", &operations, of: .subscription)
  }
}

extension SubscriptionOperation: MessagePart {
  private enum Name: String, CaseIterable, MessagePart {
    case create, update, delete
  }

  /// `create` and `update` both save: CloudKit replaces a subscription that is saved again under its ID.
  package init(_ reader: MessageReader) throws(ServiceError) {
    let subscription = try reader.member("subscription")
    switch try Name(reader.member("operationType")) {
    case .create, .update: self = .save(try Subscription(subscription))
    case .delete:
      self = .delete(subscriptionID: try subscription.member("subscriptionID").string())
    }
  }

  package func write(to writer: inout JSONWriter, context: MessageContext) {
    writer.object { writer in
      switch self {
      case .save(let subscription):
        writer.member("operationType", Name.create.rawValue)
        writer.key("subscription")
        subscription.write(to: &writer, context: context)
      case .delete(let subscriptionID):
        writer.member("operationType", Name.delete.rawValue)
        writer.key("subscription")
        writer.object { $0.member("subscriptionID", subscriptionID) }
      }
    }
  }

  package static func schema(in scope: SchemaScope) -> JSONSchema {
    .object(
      [
        "operationType": Name.schema(in: scope).described(
          "create and update both save, and replace the subscription that has the same ID."),
        "subscription": Subscription.schema(in: scope),
      ], isOpen: true)
  }
}

/// The body of `subscriptions/lookup`.
public struct LookupSubscriptionsRequest: Sendable {
  public var subscriptionIDs: [String]

  public init(subscriptionIDs: [String]) {
    self.subscriptionIDs = subscriptionIDs
  }
}

extension LookupSubscriptionsRequest: Message, MessageObject {
  package static let blank = LookupSubscriptionsRequest(subscriptionIDs: [])

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    var subscriptions = subscriptionIDs.map { SoughtSubscription(subscriptionID: $0) }
    try coder.list(
      "subscriptions", &subscriptions, count: 0...ServiceLimits.operationsPerRequest)
    subscriptionIDs = subscriptions.map(\.subscriptionID)
  }

  /// A subscription by an object with its ID, or by a bare one, as OpenCloudKit sends it.
  private struct SoughtSubscription: MessagePart {
    var subscriptionID: String

    init(subscriptionID: String) { self.subscriptionID = subscriptionID }

    init(_ reader: MessageReader) throws(ServiceError) {
      let place = reader.node.string == nil ? try reader.member("subscriptionID") : reader
      subscriptionID = try place.string()
    }

    func write(to writer: inout JSONWriter, context: MessageContext) {
      writer.object { $0.member("subscriptionID", subscriptionID) }
    }

    static func schema(in scope: SchemaScope) -> JSONSchema {
      .any(of: [.text, .object(["subscriptionID": .text], isOpen: true)])
    }
  }
}

/// The answer of `subscriptions/list`, `subscriptions/lookup` and `subscriptions/modify`.
public struct SubscriptionsResponse: Sendable {
  /// One subscription of an answer.
  public enum Item: Sendable, Hashable {
    /// - Parameter replaced: the kind of the subscription that had the ID before, where a save replaced
    ///   one of another kind. Petrel's own.
    case subscription(Subscription, replaced: Subscription.KindName? = nil)
    case deleted(subscriptionID: String)
  }

  public var subscriptions: [Result<Item, FailedItem>]

  public init(subscriptions: [Result<Item, FailedItem>]) {
    self.subscriptions = subscriptions
  }
}

extension SubscriptionsResponse: Message, MessageObject {
  package static let schemaName: String? = "SubscriptionsResponse"
  package static let blank = SubscriptionsResponse(subscriptions: [])

  package var approximateSize: Int { 512 * subscriptions.count }

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("subscriptions", &subscriptions)
  }
}

extension SubscriptionsResponse.Item: MessagePart {
  package init(_ reader: MessageReader) throws(ServiceError) {
    if try reader.optionalBool("deleted") == true {
      self = .deleted(subscriptionID: try reader.member("subscriptionID").string())
      return
    }
    // A kind that a later server knows is no reason to refuse its answer.
    let replaced = try reader.optionalString("replacedSubscriptionType")
    self = .subscription(
      try Subscription(reader), replaced: replaced.flatMap(Subscription.KindName.init))
  }

  package func write(to writer: inout JSONWriter, context: MessageContext) {
    switch self {
    case .subscription(let subscription, let replaced):
      subscription.write(to: &writer, context: context, replaced: replaced)
    case .deleted(let subscriptionID):
      writer.object { writer in
        writer.member("subscriptionID", subscriptionID)
        writer.member("deleted", true)
      }
    }
  }

  package static func schema(in scope: SchemaScope) -> JSONSchema {
    .any(of: [
      Subscription.schema(in: scope),
      .object(["subscriptionID": .text, "deleted": .constant(true)]),
    ])
  }
}
