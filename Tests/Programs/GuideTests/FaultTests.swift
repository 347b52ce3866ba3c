import CloudKit
import PetrelTesting
import Testing

@Test("a save whose answer is lost is carried out once")
func savesOnceWhenTheAnswerIsLost() async throws {
  let cloud = try await TestCloud()
  let database = cloud.container(user: "anna", device: "iphone").privateCloudDatabase
  let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "milk"))

  cloud.fail(next: .answerLost)
  await #expect(throws: CKError.self) { try await database.save(note) }

  let saved = try await database.record(for: note.recordID)
  #expect(saved.recordType == "Note")
}
