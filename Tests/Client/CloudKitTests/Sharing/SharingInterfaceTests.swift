import CloudKit
import Testing

/// The classes for the sharing interface of Apple's systems, which hold values alone.
struct SharingInterfaceTests {
  private func values(_ options: CKAllowedSharingOptions) -> [String] {
    [
      "\(options.allowedParticipantPermissionOptions.rawValue)",
      "\(options.allowedParticipantAccessOptions.rawValue)",
      "\(options.allowsParticipantsToInviteOthers)", "\(options.allowsAccessRequests)",
    ]
  }

  @Test("The option sets have Apple's numbers")
  func rawValues() {
    #expect(CKSharingParticipantPermissionOption.readOnly.rawValue == 1)
    #expect(CKSharingParticipantPermissionOption.readWrite.rawValue == 2)
    #expect(CKSharingParticipantPermissionOption.any.rawValue == 3)
    #expect(CKSharingParticipantAccessOption.anyoneWithLink.rawValue == 1)
    #expect(CKSharingParticipantAccessOption.specifiedRecipientsOnly.rawValue == 2)
    #expect(CKSharingParticipantAccessOption.any == [.anyoneWithLink, .specifiedRecipientsOnly])
  }

  @Test("Standard options offer everything but invitations by others and requests for access")
  func standard() {
    #expect(values(.standard) == ["3", "3", "false", "false"])
    CKAllowedSharingOptions.standard.allowsAccessRequests = true
    #expect(!CKAllowedSharingOptions.standard.allowsAccessRequests)
  }

  @Test("Options survive a secure archive, and a copy is separate")
  func archived() throws {
    let options = CKAllowedSharingOptions(
      allowedParticipantPermissionOptions: .readOnly, allowedParticipantAccessOptions: [])
    options.allowsParticipantsToInviteOthers = true
    #expect(values(try archivedAndBack(options)) == ["1", "0", "true", "false"])
    let copy = try #require(options.copy() as? CKAllowedSharingOptions)
    #expect(values(copy) == values(options))
    copy.allowedParticipantPermissionOptions = .any
    copy.allowedParticipantAccessOptions = .anyoneWithLink
    copy.allowsAccessRequests = true
    #expect(values(try archivedAndBack(copy)) == ["3", "1", "true", "true"])
    #expect(values(options) == ["1", "0", "true", "false"])
  }

  @Test("An archive without values gives the standard options")
  func emptyArchive() throws {
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    archiver.finishEncoding()
    let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
    #expect(values(try #require(CKAllowedSharingOptions(coder: unarchiver))) == values(.standard))
  }

  @Test("An observer keeps its blocks")
  func observer() {
    let observer = CKSystemSharingUIObserver(container: .default())
    #expect(observer.systemSharingUIDidSaveShareBlock == nil)
    observer.systemSharingUIDidSaveShareBlock = { recordID, result in _ = (recordID, result) }
    observer.systemSharingUIDidStopSharingBlock = { recordID, result in _ = (recordID, result) }
    #expect(observer.systemSharingUIDidSaveShareBlock != nil)
    #expect(observer.systemSharingUIDidStopSharingBlock != nil)
  }
}
