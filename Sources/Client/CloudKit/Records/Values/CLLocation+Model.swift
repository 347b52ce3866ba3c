package import CloudKitModel

extension CLLocation {
  /// Makes a location from a stored one.
  ///
  /// Properties that the stored location does not have are marked as not valid, as in
  /// `CLLocation(latitude:longitude:)`. A missing time becomes 1970-01-01.
  package convenience init(_ model: Location) {
    self.init(
      coordinate: CLLocationCoordinate2D(latitude: model.latitude, longitude: model.longitude),
      altitude: model.altitude ?? 0, horizontalAccuracy: model.horizontalAccuracy ?? 0,
      verticalAccuracy: model.verticalAccuracy ?? -1, course: model.course ?? -1,
      speed: model.speed ?? -1, timestamp: model.timestamp?.date ?? Date(timeIntervalSince1970: 0))
  }

  /// The location as the server stores it. Properties that are not valid are left out.
  package var model: Location {
    Location(
      latitude: coordinate.latitude, longitude: coordinate.longitude,
      horizontalAccuracy: horizontalAccuracy,
      verticalAccuracy: verticalAccuracy < 0 ? nil : verticalAccuracy,
      altitude: altitude, speed: speed < 0 ? nil : speed,
      course: course < 0 ? nil : course, timestamp: Timestamp(timestamp))
  }
}
