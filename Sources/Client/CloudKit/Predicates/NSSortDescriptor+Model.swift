package import CloudKitModel

extension SortKey {
  /// Throws `invalidArguments` for a descriptor that was made without a key.
  package init(_ descriptor: NSSortDescriptor) throws(CKError) {
    let name: String
    switch descriptor {
    case let descriptor as CKLocationSortDescriptor: name = descriptor.fieldName
    default:
      guard let key = descriptor.searchableKey else {
        throw CKError(
          .invalidArguments,
          "a sort descriptor without a key, or made of a key path or comparator, is not supported; "
            + "use NSSortDescriptor(key:ascending:)")
      }
      name = key
    }
    self.init(
      SystemField(anyName: name).map { .system($0) } ?? .field(name),
      ascending: descriptor.ascending,
      relativeLocation: (descriptor as? CKLocationSortDescriptor)?.relativeLocation.model)
  }
}

extension NSSortDescriptor {
  package static func descriptor(for key: SortKey) -> NSSortDescriptor {
    if let place = key.relativeLocation {
      return CKLocationSortDescriptor(
        key: key.key.description, relativeLocation: CLLocation(place))
    }
    return NSSortDescriptor(key: key.key.description, ascending: key.ascending)
  }
}
