import Configuration
import Storage
import StoreModel
import Testing

@testable import petrel

struct StoreConfigurationTests {
  @Test("what the configuration says of how long things are kept comes to the store")
  func retention() {
    var server = ServerConfiguration(dataDirectory: "/nowhere")
    let unless = StoreConfiguration(of: server)
    #expect(unless.notificationLog == NotificationLogLimits())
    #expect(unless.changeHistory == ChangeHistoryLimits())
    #expect(unless.deletionRetention == StoreConfiguration().deletionRetention)
    server.notificationLog.days = 3
    server.notificationLog.entries = 500
    server.explain.days = 2
    server.explain.changes = 7
    server.deletionRetentionDays = 5
    let store = StoreConfiguration(of: server)
    #expect(store.notificationLog.age == 3 * 86_400)
    #expect(store.notificationLog.entries == 500)
    #expect(store.changeHistory.age == 2 * 86_400)
    #expect(store.changeHistory.changes == 7)
    #expect(store.deletionRetention == 5 * 86_400)
  }
}
