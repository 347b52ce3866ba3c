import CloudKit
import PetrelTesting
import XCTest

final class AlertTests: XCTestCase {
  func testStrongEarthquakeIsAnnounced() async throws {
    let cloud = try await TestCloud()
    let phone = cloud.container(user: "anna", device: "iphone")
    try await Alerts(database: phone.publicCloudDatabase).subscribe(magnitude: 6)

    let station = cloud.container(user: "station", device: "sensor")
    let earthquake = CKRecord(recordType: "Earthquake")
    earthquake["magnitude"] = 6.4
    try await station.publicCloudDatabase.save(earthquake)

    let pushes = await cloud.pushes(to: "anna", device: "iphone")
    XCTAssertEqual(pushes.map { $0.notification?.subscriptionID }, ["strong"])
  }
}
