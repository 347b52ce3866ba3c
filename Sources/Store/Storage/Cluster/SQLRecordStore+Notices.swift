import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRecordStore {
  public func setNoticeHandler(_ handler: (@Sendable (ServerNotice) -> Void)?) {
    notices?.setHandler(handler, in: threads)
  }

  public func tellOfPresence(_ server: ServerID) async throws {
    try await attend { [notices] in try notices?.tell(.here(server), in: $0) }
  }

  public func awaitedParts(of server: ServerID) async throws -> LeftWord {
    // Before the outbox is looked into: what is committed after this leaves word anew.
    try await attend { try DispatchLeaseTable(transaction: $0).hear(as: server) }
  }
}
