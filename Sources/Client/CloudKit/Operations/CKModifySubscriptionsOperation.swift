internal import CloudKitModel
internal import WebServices

/// An operation that saves and deletes subscriptions.
///
/// A save replaces the subscription with the same ID, even if its type is another one; the
/// operation then prints a warning on standard error. Deleting an unknown ID fails with
/// `unknownItem`.
///
/// A subscription of the wrong type for the database fails with `invalidArguments`. Query
/// subscriptions work in the public and private database, zone subscriptions in the private one,
/// and database subscriptions in the private and shared one. A subscription is active when its
/// result arrives.
///
/// An error of a single subscription goes to its block, and the result of the operation is success.
/// Only the deprecated ``modifySubscriptionsCompletionBlock`` gets these errors together, as
/// `partialFailure`.
///
/// ```swift
/// let operation = CKModifySubscriptionsOperation(subscriptionsToSave: [subscription])
/// operation.qualityOfService = .utility
/// operation.modifySubscriptionsResultBlock = { result in … }
/// CKContainer.default().privateCloudDatabase.add(operation)
/// ```
open class CKModifySubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The subscriptions to create or replace.
  open var subscriptionsToSave: [CKSubscription]?
  /// The IDs of the subscriptions to delete.
  open var subscriptionIDsToDelete: [CKSubscription.ID]?

  /// The block that the operation calls with the result of each subscription to save. A success has
  /// the subscription as the server saved it.
  public var perSubscriptionSaveBlock:
    ((CKSubscription.ID, Result<CKSubscription, any Error>) -> Void)?
  /// The block that the operation calls with the result of each subscription to delete.
  public var perSubscriptionDeleteBlock: ((CKSubscription.ID, Result<Void, any Error>) -> Void)?
  /// The block that the operation calls once, after the blocks of the subscriptions. The result is
  /// a failure only if the whole request failed.
  public var modifySubscriptionsResultBlock: ((Result<Void, any Error>) -> Void)?
  /// The block that the operation calls once, after ``modifySubscriptionsResultBlock``, with the
  /// saved subscriptions and the deleted IDs. The error is `partialFailure` if some of them failed;
  /// its ``CKPartialErrorsByItemIDKey`` has the errors by subscription ID.
  @available(*, deprecated, message: "Use modifySubscriptionsResultBlock")
  open var modifySubscriptionsCompletionBlock:
    (([CKSubscription]?, [CKSubscription.ID]?, (any Error)?) -> Void)?
  {
    get { formerCompletionBlock }
    set { formerCompletionBlock = newValue }
  }
  /// The deprecated block, for code that must not cause its warning.
  var formerCompletionBlock: (([CKSubscription]?, [CKSubscription.ID]?, (any Error)?) -> Void)?

  /// The operations in the order of the request. The server answers in the same order.
  private var sent: [SubscriptionOperation] = []
  private var savedSubscriptions: [CKSubscription] = []
  private var deletedSubscriptionIDs: [CKSubscription.ID] = []
  private var itemErrors = ItemErrors()

  /// Makes an operation that saves and deletes subscriptions. Saves come before deletions.
  public convenience init(
    subscriptionsToSave: [CKSubscription]? = nil,
    subscriptionIDsToDelete: [CKSubscription.ID]? = nil
  ) {
    self.init()
    self.subscriptionsToSave = subscriptionsToSave
    self.subscriptionIDsToDelete = subscriptionIDsToDelete
  }

  override func firstCall() throws(CKError) -> ServiceCall? {
    for subscription in subscriptionsToSave ?? [] {
      do throws(CKError) {
        sent.append(.save(try subscription.model()))
      } catch {
        finishSave(subscription.subscriptionID, .failure(error))
      }
    }
    sent += (subscriptionIDsToDelete ?? []).map { .delete(subscriptionID: $0) }
    guard !sent.isEmpty else { return nil }
    let request = ModifySubscriptionsRequest(operations: sent)
    return call("subscriptions/modify", body: request.body(context: messageContext))
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    let context = messageContext
    let response = try read { () throws(ServiceError) in
      try SubscriptionsResponse(parsing: answer.body, context: context)
    }
    for (operation, result) in try pair(sent, with: response.subscriptions) {
      switch (operation, result) {
      case (.save(let subscription), .success(.subscription(let saved, let replaced))):
        if let replaced { warn(of: replaced, replacedBy: saved) }
        finishSave(subscription.subscriptionID, .success(.subscription(saved)))
      case (.save(let subscription), .failure(let failed)) where failed.error.code == .exists:
        // For a record, `EXISTS` is a conflict of change tags. A subscription has no change tag, so
        // the server's refusal becomes `serverRejectedRequest`.
        finishSave(
          subscription.subscriptionID,
          .failure(CKError(.serverRejectedRequest, failed.error.reason)))
      case (.save(let subscription), .failure(let failed)):
        finishSave(subscription.subscriptionID, .failure(CKError(failed.error)))
      case (.delete(let subscriptionID), .success(.deleted)):
        finishDeletion(subscriptionID, .success(()))
      case (.delete(let subscriptionID), .failure(let failed))
      where answer.mayRepeatWork && failed.error.code == .notFound:
        // An earlier attempt, whose answer was lost, deleted the subscription.
        finishDeletion(subscriptionID, .success(()))
      case (.delete(let subscriptionID), .failure(let failed)):
        finishDeletion(subscriptionID, .failure(CKError(failed.error)))
      case (_, .success):
        throw CKError(
          .internalError, "the server answered a save as a deletion, or a deletion as a save")
      }
    }
    return nil
  }

  /// Warns on standard error that a save replaced a subscription of another type.
  ///
  /// Apple's framework gives no sign of the replacement. A program that uses one ID for two
  /// subscriptions of different types keeps only the last one.
  private func warn(of former: Subscription.KindName, replacedBy saved: Subscription) {
    PetrelConfiguration.warn(
      "saving the \(saved.kind.name) subscription '\(saved.subscriptionID)' replaced the "
        + "\(former) subscription with the same ID; give each subscription an ID of its own")
  }

  private func finishSave(
    _ subscriptionID: CKSubscription.ID, _ result: Result<CKSubscription, CKError>
  ) {
    switch result {
    case .success(let subscription): savedSubscriptions.append(subscription)
    case .failure(let error): itemErrors.add(error, for: subscriptionID)
    }
    perSubscriptionSaveBlock?(subscriptionID, result.mapError { $0 })
  }

  private func finishDeletion(
    _ subscriptionID: CKSubscription.ID, _ result: Result<Void, CKError>
  ) {
    switch result {
    case .success: deletedSubscriptionIDs.append(subscriptionID)
    case .failure(let error): itemErrors.add(error, for: subscriptionID)
    }
    perSubscriptionDeleteBlock?(subscriptionID, result.mapError { $0 })
  }

  override func conclude(_ error: CKError?) {
    modifySubscriptionsResultBlock?(error.map { .failure($0) } ?? .success(()))
    formerCompletionBlock?(
      savedSubscriptions, deletedSubscriptionIDs, error ?? itemErrors.partialFailure)
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    perSubscriptionSaveBlock = nil
    perSubscriptionDeleteBlock = nil
    modifySubscriptionsResultBlock = nil
    formerCompletionBlock = nil
  }
}
