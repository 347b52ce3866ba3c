import CloudKitModel
import Testing

@testable import CloudKit

struct UserIdentityTests {
  private let recordID = CKRecord.ID(recordName: "_anna")

  private func identity(
    _ recordName: String?, email: String? = nil, name: PersonNameComponents? = nil
  ) -> CKUserIdentity {
    CKUserIdentity(
      UserIdentity(
        userRecordName: recordName, nameComponents: name,
        lookup: email.map { UserLookup(emailAddress: $0) }))
  }

  @Test("A lookup info holds what it was made of, and nothing else")
  func lookupInfo() {
    let email = CKUserIdentity.LookupInfo(emailAddress: "anna@example.com")
    #expect(email.emailAddress == "anna@example.com")
    #expect(email.phoneNumber == nil)
    #expect(email.userRecordID == nil)
    let phone = CKUserIdentity.LookupInfo(phoneNumber: "+49 30 1234")
    #expect(phone.phoneNumber == "+49 30 1234")
    #expect(phone.emailAddress == nil)
    let record = CKUserIdentity.LookupInfo(userRecordID: recordID)
    #expect(record.userRecordID == recordID)
    #expect(Set([email, phone, record, CKUserIdentityLookupInfo(phoneNumber: "1")]).count == 4)
    #expect(record == CKUserIdentity.LookupInfo(userRecordID: CKRecord.ID(recordName: "_anna")))
  }

  @Test("The lists of lookup infos keep their order")
  func lookupInfos() {
    #expect(
      CKUserIdentity.LookupInfo.lookupInfos(withEmails: ["b@x", "a@x"]).map(\.emailAddress)
        == ["b@x", "a@x"])
    #expect(
      CKUserIdentity.LookupInfo.lookupInfos(withPhoneNumbers: ["2", "1"]).map(\.phoneNumber)
        == ["2", "1"])
    #expect(
      CKUserIdentity.LookupInfo.lookupInfos(with: [recordID]).map(\.userRecordID) == [recordID])
  }

  @Test("A lookup info survives a secure archive and copying")
  func archivedLookupInfo() throws {
    for info in [
      CKUserIdentity.LookupInfo(emailAddress: "anna@example.com"),
      CKUserIdentity.LookupInfo(phoneNumber: "+4930"),
      CKUserIdentity.LookupInfo(userRecordID: recordID),
    ] {
      #expect(try archivedAndBack(info) == info)
      #expect(info.copy() as? CKUserIdentity.LookupInfo == info)
    }
  }

  @Test("An identity survives a secure archive with its name")
  func archived() throws {
    var name = PersonNameComponents()
    name.givenName = "Anna"
    name.familyName = "Berg"
    name.nickname = "Änni"
    let anna = identity("_anna", email: "anna@example.com", name: name)
    let back = try archivedAndBack(anna)
    #expect(back == anna)
    #expect(back.userRecordID == recordID)
    #expect(back.lookupInfo?.emailAddress == "anna@example.com")
    #expect(back.nameComponents == name)
    #expect(back.hasiCloudAccount)
    let nobody = try archivedAndBack(identity(nil))
    #expect(nobody.userRecordID == nil)
    #expect(nobody.lookupInfo == nil)
    #expect(nobody.nameComponents == nil)
    #expect(!nobody.hasiCloudAccount)
  }

  @Test("Identities of one person are equal, whatever else is known")
  func equality() {
    #expect(identity("_anna", email: "anna@example.com") == identity("_anna"))
    #expect(identity("_anna").hash == identity("_anna", email: "anna@example.com").hash)
    #expect(identity("_anna") != identity("_ben"))
    #expect(identity(nil, email: "a@x") == identity(nil, email: "a@x"))
    #expect(identity(nil, email: "a@x") != identity(nil, email: "b@x"))
    #expect(identity(nil) != identity(nil))
  }
}
