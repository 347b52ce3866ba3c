import CloudKitModel
import Foundation
import JSONCoding

/// The body of `subscriptions/modify`.
public struct ModifySubscriptionsRequest: Sendable {
  public var operations: [Result<SubscriptionOperation, FailedItem>]

  public init(operations: [SubscriptionOperation]) {
    self.operations = operations.map { .success($0) }
  }

  /// Reads the request. `create` and `update` both save: CloudKit replaces a subscription that is
  /// saved again under its ID.
  public init(parsing body: Data, context: MessageContext) throws(ServiceError) {
    let reader = try MessageReader(parsing: body, context: context)
    operations = try reader.limitedElements(of: "operations").items(of: .subscription) {
      (element) throws(ServiceError) in
      let subscription = try element.member("subscription")
      switch try element.member("operationType").string() {
      case "create", "update":
        return .save(try Subscription(subscription))
      case "delete":
        return .delete(subscriptionID: try subscription.member("subscriptionID").string())
      case let other:
        throw element.mistake("operationType '\(other)' must be create, update or delete")
      }
    }
  }

  public func body(context: MessageContext) -> Data {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("operations")
      writer.array { writer in
        for case .success(let operation) in operations {
          writer.object { writer in
            switch operation {
            case .save(let subscription):
              writer.member("operationType", "create")
              writer.key("subscription")
              subscription.write(to: &writer, context: context)
            case .delete(let subscriptionID):
              writer.member("operationType", "delete")
              writer.key("subscription")
              writer.object { $0.member("subscriptionID", subscriptionID) }
            }
          }
        }
      }
    }
    return writer.data
  }
}

/// The body of `subscriptions/lookup`.
public struct LookupSubscriptionsRequest: Sendable {
  public var subscriptionIDs: [String]

  public init(subscriptionIDs: [String]) {
    self.subscriptionIDs = subscriptionIDs
  }

  /// Reads IDs in dictionaries, and bare ones, as OpenCloudKit sends them.
  public init(parsing body: Data, context: MessageContext) throws(ServiceError) {
    let reader = try MessageReader(parsing: body, context: context)
    subscriptionIDs = []
    for element in try reader.limitedElements(of: "subscriptions").elements() {
      if element.node.string != nil {
        subscriptionIDs.append(try element.string())
      } else {
        subscriptionIDs.append(try element.member("subscriptionID").string())
      }
    }
  }

  public func body(context: MessageContext) -> Data {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("subscriptions")
      writer.array { writer in
        for subscriptionID in subscriptionIDs {
          writer.object { $0.member("subscriptionID", subscriptionID) }
        }
      }
    }
    return writer.data
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

  public init(parsing body: Data, context: MessageContext) throws(ServiceError) {
    let reader = try MessageReader(parsing: body, context: context)
    subscriptions = try reader.member("subscriptions").answers { (element) throws(ServiceError) in
      if try element.optionalBool("deleted") == true {
        return .deleted(subscriptionID: try element.member("subscriptionID").string())
      }
      // A kind that a later server knows is no reason to refuse its answer.
      let replaced = try element.optionalString("replacedSubscriptionType")
      return .subscription(
        try Subscription(element), replaced: replaced.flatMap(Subscription.KindName.init))
    }
  }

  public func body(context: MessageContext) -> Data {
    var writer = JSONWriter(reserving: 512 * subscriptions.count)
    writer.object { writer in
      writer.key("subscriptions")
      writer.array { writer in
        for item in subscriptions {
          switch item {
          case .success(.subscription(let subscription, let replaced)):
            subscription.write(to: &writer, context: context, replaced: replaced)
          case .success(.deleted(let subscriptionID)):
            writer.object { writer in
              writer.member("subscriptionID", subscriptionID)
              writer.member("deleted", true)
            }
          case .failure(let failed):
            failed.write(to: &writer, context: context)
          }
        }
      }
    }
    return writer.data
  }
}
