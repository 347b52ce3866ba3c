import CloudKitModel
import StoreModel

extension HookedStore {
  func pastChanges(
    of recordID: RecordID?, in database: DatabaseID, before sequence: Int64?, limit: Int
  ) async throws -> [PastChange] {
    try await base.pastChanges(of: recordID, in: database, before: sequence, limit: limit)
  }

  func notifications(
    ofChange change: PastChange, subscriber: String?, limit: Int
  ) async throws -> [PastNotification] {
    try await base.notifications(ofChange: change, subscriber: subscriber, limit: limit)
  }

  func notifications(
    ofSubscription name: SubscriptionName, in database: DatabaseID, limit: Int
  ) async throws -> [PastNotification] {
    try await base.notifications(ofSubscription: name, in: database, limit: limit)
  }

  func logEntry(ofDelivery id: Delivery.ID) async throws -> LogEntry? {
    try await base.logEntry(ofDelivery: id)
  }

  func subscriptionState(
    of name: SubscriptionName, in database: DatabaseID
  ) async throws -> SubscriptionState? {
    try await base.subscriptionState(of: name, in: database)
  }

  func subscriptionDeletion(
    of name: SubscriptionName, in database: DatabaseID
  ) async throws -> SubscriptionDeletion? {
    try await base.subscriptionDeletion(of: name, in: database)
  }

  func subscriptionStates(
    withID subscriptionID: String?, of subscriber: String?, in database: DatabaseID,
    after name: SubscriptionName?, limit: Int
  ) async throws -> SubscriptionStatePage {
    try await base.subscriptionStates(
      withID: subscriptionID, of: subscriber, in: database, after: name, limit: limit)
  }

  func devicePeriods(of recipient: Recipient) async throws -> [DevicePeriod] {
    try await base.devicePeriods(of: recipient)
  }

  func existingDatabase(at address: DatabaseAddress) async throws -> DatabaseID? {
    try await base.existingDatabase(at: address)
  }
}
