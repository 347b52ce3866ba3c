import CloudKit
import Foundation
import Testing

@testable import PetrelTesting

struct LongLivedOperationTests {
  @Test("what is kept of them is the cloud's own and goes with it")
  func ownDirectory() async throws {
    let cloud = try await TestCloud()
    let directory = cloud.stateDirectory.path
    let database = cloud.container(user: "anna").privateCloudDatabase
    #expect(!FileManager.default.fileExists(atPath: directory))
    let result: Result<Void, any Error> = await withCheckedContinuation { continuation in
      let operation = CKModifyRecordsOperation(recordsToSave: [CKRecord(recordType: "Note")])
      let configuration = CKOperation.Configuration()
      configuration.isLongLived = true
      operation.configuration = configuration
      operation.longLivedOperationWasPersistedBlock = {
        #expect(FileManager.default.fileExists(atPath: directory))
      }
      operation.modifyRecordsResultBlock = { continuation.resume(returning: $0) }
      database.add(operation)
    }
    #expect(throws: Never.self) { try result.get() }
    await cloud.stop()
    #expect(!FileManager.default.fileExists(atPath: directory))
  }
}
