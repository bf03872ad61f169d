/*===-- acl/acl_tdt.h - data items and the channels they pass ---------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                     */
/*
 * A channel is a queue of this process with a name: what acltdtSendTensor puts in, an
 * acltdtReceiveTensor of a channel of that device and name takes out, in order. The data of
 * items is copied when it is sent; a received item owns its data.
 */
#ifndef OPENATC_ACL_ACL_TDT_H
#define OPENATC_ACL_ACL_TDT_H

#include "acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum acltdtTensorType {
  ACL_TENSOR_DATA_UNDEFINED = -1,
  ACL_TENSOR_DATA_TENSOR,
  ACL_TENSOR_DATA_END_OF_SEQUENCE,
  ACL_TENSOR_DATA_ABNORMAL,
  ACL_TENSOR_DATA_SLICE_TENSOR,
  ACL_TENSOR_DATA_END_TENSOR
} acltdtTensorType;

typedef struct acltdtDataItem acltdtDataItem;
typedef struct acltdtDataset acltdtDataset;
typedef struct acltdtChannelHandle acltdtChannelHandle;

/* Describe an item: ACL_TENSOR_DATA_UNDEFINED, ACL_DT_UNDEFINED, NULL or 0 of what is no item. */
ACL_FUNC_VISIBILITY acltdtTensorType acltdtGetTensorTypeFromItem(const acltdtDataItem *dataItem);
ACL_FUNC_VISIBILITY aclDataType acltdtGetDataTypeFromItem(const acltdtDataItem *dataItem);
ACL_FUNC_VISIBILITY void *acltdtGetDataAddrFromItem(const acltdtDataItem *dataItem);
/* Returns bytes. */
ACL_FUNC_VISIBILITY size_t acltdtGetDataSizeFromItem(const acltdtDataItem *dataItem);
ACL_FUNC_VISIBILITY size_t acltdtGetDimNumFromItem(const acltdtDataItem *dataItem);
/* Writes the dims; ACL_ERROR_INVALID_PARAM where `dimNum` is less than there are. */
ACL_FUNC_VISIBILITY aclError acltdtGetDimsFromItem(const acltdtDataItem *dataItem, int64_t *dims,
                                                   size_t dimNum);
/* Writes which part of a sequence of slices the item is, 0 of 0 for a whole tensor. */
ACL_FUNC_VISIBILITY aclError acltdtGetSliceInfoFromItem(const acltdtDataItem *dataItem,
                                                        size_t *sliceNum, size_t *sliceId);

/* Creates an item on the caller's data, `size` bytes, which must stay until it is sent. Returns
 * NULL where `data` or `dims` is NULL and its count is not 0. */
ACL_FUNC_VISIBILITY acltdtDataItem *acltdtCreateDataItem(acltdtTensorType tdtType,
                                                         const int64_t *dims, size_t dimNum,
                                                         aclDataType dataType, void *data,
                                                         size_t size);
ACL_FUNC_VISIBILITY aclError acltdtDestroyDataItem(acltdtDataItem *dataItem);

/* A dataset lists items. Items that acltdtReceiveTensor has added end with the dataset; those
 * of acltdtAddDataItem are the caller's. */
ACL_FUNC_VISIBILITY acltdtDataset *acltdtCreateDataset(void);
ACL_FUNC_VISIBILITY aclError acltdtDestroyDataset(acltdtDataset *dataset);
/* Returns NULL where there is no item `index`. */
ACL_FUNC_VISIBILITY acltdtDataItem *acltdtGetDataItem(const acltdtDataset *dataset, size_t index);
/* ACL_ERROR_INVALID_PARAM where items of the dataset were received. */
ACL_FUNC_VISIBILITY aclError acltdtAddDataItem(acltdtDataset *dataset, acltdtDataItem *dataItem);
ACL_FUNC_VISIBILITY size_t acltdtGetDatasetSize(const acltdtDataset *dataset);
/* Returns the name of the channel that the dataset was received from; "" of others. The text
 * lives as long as the dataset. */
ACL_FUNC_VISIBILITY const char *acltdtGetDatasetName(const acltdtDataset *dataset);

/* Creates an end of the channel `name`; NULL where the device or the name is not valid. A channel
 * of acltdtCreateChannelWithCapacity holds `capacity` datasets, others as many as are sent. */
ACL_FUNC_VISIBILITY acltdtChannelHandle *acltdtCreateChannel(uint32_t deviceId, const char *name);
ACL_FUNC_VISIBILITY acltdtChannelHandle *
acltdtCreateChannelWithCapacity(uint32_t deviceId, const char *name, size_t capacity);
/* Ends waiting on this end of the channel: acltdtReceiveTensor and acltdtSendTensor return. */
ACL_FUNC_VISIBILITY aclError acltdtStopChannel(acltdtChannelHandle *handle);
ACL_FUNC_VISIBILITY aclError acltdtDestroyChannel(acltdtChannelHandle *handle);
/* Writes how many datasets wait in the channel. */
ACL_FUNC_VISIBILITY aclError acltdtQueryChannelSize(const acltdtChannelHandle *handle,
                                                    size_t *size);
/* Discards what waits in the channel. */
ACL_FUNC_VISIBILITY aclError acltdtCleanChannel(acltdtChannelHandle *handle);

/* Puts copies of the items in. `timeout` is milliseconds; 0 does not wait and -1 waits without
 * end. ACL_ERROR_RT_QUEUE_FULL where the channel stays full, ACL_ERROR_FAILURE after a stop. */
ACL_FUNC_VISIBILITY aclError acltdtSendTensor(const acltdtChannelHandle *handle,
                                              const acltdtDataset *dataset, int32_t timeout);
/* Takes a dataset out and writes its items into an empty dataset, or replaces what was received
 * into it before. ACL_ERROR_RT_QUEUE_EMPTY where nothing comes in time. */
ACL_FUNC_VISIBILITY aclError acltdtReceiveTensor(const acltdtChannelHandle *handle,
                                                 acltdtDataset *dataset, int32_t timeout);

#ifdef __cplusplus
}
#endif

#endif
