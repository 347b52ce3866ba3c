import StoreModel

extension SQLRecordStore {
  public func listedServers() async throws -> [ListedServer] {
    try await read { try ServerTable(transaction: $0).listed() }
  }
}
