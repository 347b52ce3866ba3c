import Testing

@testable import petrel_bench

struct ZoneNotificationsTests {
  @Test("Notifications are counted by zone and reader, also if they come in pieces")
  func pieces() {
    let notifications = ZoneNotifications(zones: 12, readers: 2)
    var first = Array(#"data: {"ck":{"met":{"zid":"shared-3","zoid":"_a"}}}"#.utf8)
    notifications.receive(0, &first)
    var text = Array(
      #"data: {"ck":{"met":{"zid":"shared-3"}}} data: {"ck":{"met":{"zid":"shared-1"#.utf8)
    notifications.receive(1, &text)
    #expect(notifications.arrivals(of: 3).map(\.count) == [1, 1])
    #expect(notifications.counts == [1, 1])
    text += Array(#"1","zoid":"_a"}}}"#.utf8)
    notifications.receive(1, &text)
    #expect(notifications.arrivals(of: 11).map(\.count) == [0, 1])
    #expect(notifications.arrivals(of: 1).map(\.count) == [0, 0])
    #expect(notifications.arrivals(of: 11)[1].latest >= notifications.arrivals(of: 3)[1].latest)
    // Another zone, and one that is not of the benchmark.
    var others = Array(#"{"zid":"private3"} {"zid":"shared-99"} {"zid":"shared-0"}"#.utf8)
    notifications.receive(0, &others)
    #expect(notifications.counts == [2, 2])
  }
}
