package import CloudKitModel

extension CLLocation {
  /// Makes a location from a stored one.
  ///
  /// A missing course, speed or vertical accuracy becomes -1, which marks it as not valid. A
  /// missing altitude or horizontal accuracy becomes 0. A missing time becomes 1970-01-01.
  package convenience init(_ model: Location) {
    self.init(
      coordinate: CLLocationCoordinate2D(latitude: model.latitude, longitude: model.longitude),
      altitude: model.altitude ?? 0, horizontalAccuracy: model.horizontalAccuracy ?? 0,
      verticalAccuracy: model.verticalAccuracy ?? -1, course: model.course ?? -1,
      speed: model.speed ?? -1, timestamp: model.timestamp?.date ?? Date(timeIntervalSince1970: 0))
  }

  /// The location as the server stores it. A negative vertical accuracy, speed or course is not
  /// valid and is left out. The source and the accuracies of course and speed are never stored.
  package var model: Location {
    Location(
      latitude: coordinate.latitude, longitude: coordinate.longitude,
      horizontalAccuracy: horizontalAccuracy,
      verticalAccuracy: verticalAccuracy < 0 ? nil : verticalAccuracy,
      altitude: altitude, speed: speed < 0 ? nil : speed,
      course: course < 0 ? nil : course, timestamp: Timestamp(timestamp))
  }
}
