import StoreModel

extension SQLRecordStore {
  public func listedServers() async throws -> [ListedServer] {
    try await read { try ServerTable(session: $0).listed() }
  }
}
