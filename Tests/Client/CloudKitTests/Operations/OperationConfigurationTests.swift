import Foundation
import Testing

@testable import CloudKit

struct OperationConfigurationTests {
  @Test("Defaults are Apple's")
  func defaults() {
    let configuration = CKOperation.Configuration()
    #expect(configuration.container == nil)
    #expect(configuration.qualityOfService == .default)
    #expect(configuration.allowsCellularAccess)
    #expect(!configuration.isLongLived)
    #expect(configuration.timeoutIntervalForRequest == 60)
    #expect(configuration.timeoutIntervalForResource == 604_800)
    configuration.qualityOfService = .userInitiated
    #expect(configuration.timeoutIntervalForResource == -1)
    configuration.timeoutIntervalForResource = 5
    #expect(configuration.timeoutIntervalForResource == 5)
  }

  @Test("Only utility and background operations are patient")
  func patience() {
    let patience = [
      QualityOfService.userInteractive, .userInitiated, .default, .utility, .background,
    ]
    .map { qualityOfService in
      let configuration = CKOperation.Configuration()
      configuration.qualityOfService = qualityOfService
      return configuration.values.limits(elapsed: 0).isPatient
    }
    #expect(patience == [false, false, false, true, true])
  }

  @Test("The time for the whole operation counts over all its requests")
  func elapsed() {
    let configuration = CKOperation.Configuration()
    configuration.timeoutIntervalForResource = 10
    #expect(configuration.values.limits(elapsed: 4).resource == 6)
    #expect(configuration.values.limits(elapsed: 14).resource == 0)
    configuration.timeoutIntervalForResource = -1
    #expect(configuration.values.limits(elapsed: 4).resource == nil)
  }

  @Test("The operation's value counts before its group's, and that before the database's")
  func precedence() {
    let container = CKContainer.scripted { _, _ in .silence }
    let ambient = CKOperation.Configuration()
    ambient.timeoutIntervalForRequest = 1
    ambient.timeoutIntervalForResource = 1
    ambient.qualityOfService = .background
    let group = CKOperationGroup()
    group.defaultConfiguration.timeoutIntervalForRequest = 2
    group.defaultConfiguration.timeoutIntervalForResource = 2
    let operation = CKFetchRecordsOperation(recordIDs: [])
    operation.group = group
    operation.configuration.timeoutIntervalForRequest = 3
    container.privateCloudDatabase.configuredWith(configuration: ambient) { database in
      operation.database = database
    }
    let values = operation.effectiveValues
    #expect(values.timeoutIntervalForRequest == 3)
    #expect(values.timeoutIntervalForResource == 2)
    #expect(values.qualityOfService == .background)
  }

  @available(*, deprecated)
  @Test("Assigning a configuration copies it, and nil resets it")
  func copying() {
    let configuration = CKOperation.Configuration()
    configuration.isLongLived = true
    let operation = CKOperation()
    operation.configuration = configuration
    configuration.isLongLived = false
    #expect(operation.configuration.isLongLived)
    #expect(operation.isLongLived)
    operation.configuration = nil
    #expect(!operation.isLongLived)
  }

  @Test("Foundation's and CloudKit's quality of service are one")
  func qualityOfService() {
    let operation = CKOperation()
    operation.qualityOfService = .utility
    #expect(operation.configuration.qualityOfService == .utility)
    operation.configuration.qualityOfService = .background
    #expect(operation.qualityOfService == .background)
  }

  @Test("A configured database passes its configuration on to its methods' operations")
  func configuredDatabase() async throws {
    let transport = ScriptedTransport { request, index in
      index == 0 ? .failure(.init(.unreachable, "down")) : OperationTests.found(request, index)
    }
    let database = CKContainer.scripted(transport).privateCloudDatabase
    let configuration = CKOperation.Configuration()
    configuration.qualityOfService = .utility
    let record = try await database.configuredWith(configuration: configuration) { database in
      try await database.record(for: CKRecord.ID(recordName: "a"))
    }
    #expect(record.recordID.recordName == "a")
    #expect(transport.requests.count == 2)
  }

  @Test("So does a configured container, to its databases as well")
  func configuredContainer() {
    let container = CKContainer.scripted { _, _ in .silence }
    let group = CKOperationGroup()
    group.defaultConfiguration.timeoutIntervalForRequest = 7
    let operation = CKFetchRecordsOperation(recordIDs: [])
    container.configuredWith(group: group) { operation.database = $0.sharedCloudDatabase }
    #expect(operation.effectiveValues.timeoutIntervalForRequest == 7)
    #expect(operation.database?.databaseScope == .shared)
  }

  @Test("An operation that was added to no container has its group's")
  func groupContainer() throws {
    let container = CKContainer.scripted { _, _ in .silence }
    let group = CKOperationGroup()
    group.defaultConfiguration.container = container
    let operation = CKFetchRecordsOperation(recordIDs: [])
    operation.group = group
    #expect(try operation.client.get() === container.client.get())
  }

  @Test("A group survives archiving")
  func archiving() throws {
    let group = CKOperationGroup()
    group.name = "upload"
    group.quantity = 3
    group.expectedSendSize = .megabytes
    group.defaultConfiguration.container = CKContainer(identifier: "iCloud.com.example.app")
    group.defaultConfiguration.qualityOfService = .utility
    group.defaultConfiguration.allowsCellularAccess = false
    group.defaultConfiguration.isLongLived = true
    group.defaultConfiguration.timeoutIntervalForRequest = 7
    group.defaultConfiguration.timeoutIntervalForResource = -1
    let data = try NSKeyedArchiver.archivedData(withRootObject: group, requiringSecureCoding: true)
    let copy = try #require(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: CKOperationGroup.self, from: data))
    #expect(copy.operationGroupID == group.operationGroupID)
    #expect(copy.name == "upload")
    #expect(copy.quantity == 3)
    #expect(copy.expectedSendSize == .megabytes)
    #expect(copy.expectedReceiveSize == .unknown)
    let values = copy.defaultConfiguration.values
    #expect(values.container?.containerIdentifier == "iCloud.com.example.app")
    #expect(values.qualityOfService == .utility && values.allowsCellularAccess == false)
    #expect(values.isLongLived == true)
    #expect(values.timeoutIntervalForRequest == 7 && values.timeoutIntervalForResource == -1)
  }

  @Test("A setting that was not set is not set in an archived group either")
  func archivingDefaults() throws {
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: CKOperationGroup(), requiringSecureCoding: true)
    let copy = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKOperationGroup.self, from: data)
    let values = try #require(copy?.defaultConfiguration.values)
    #expect(values.container == nil && values.qualityOfService == nil)
    #expect(values.allowsCellularAccess == nil && values.isLongLived == nil)
    #expect(values.timeoutIntervalForRequest == nil && values.timeoutIntervalForResource == nil)
  }
}
